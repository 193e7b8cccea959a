/* Internet checksums of frames in the packet memory: what the DMA assist sums is the whole of a transfer, so what is
 * not meant is taken away again and what is missing added.  Sums are those of 16-bit numbers with the carry put back
 * in; bytes at odd places are the lower half of theirs.
 */
#ifndef TIGON2_SUMS_H
#define TIGON2_SUMS_H

#include "hot.h"

/* Calls into SRAM cost more than the code. */
#define INLINE static inline __attribute__((always_inline))

/* A frame, which may go round the end of its buffer memory. */
struct frame {
  u32 start, length;
  u32 base, end; /* of the buffer memory */
};

/* An IPv4 datagram in a frame; offsets are those in the frame. */
struct datagram {
  u32 ip;        /* offset of the IP header, */
  u32 transport; /* of what follows it, */
  u32 end;       /* and of the end */
  u32 protocol;
  u32 field; /* offset of the transport layer's checksum; 0 if there is none, or the datagram is a fragment */
};

INLINE u32 place(const struct frame *f, u32 offset) {
  u32 at = f->start + offset;
  return at < f->end ? at : at - f->end + f->base;
}
INLINE u32 half(const struct frame *f, u32 offset) {
  return *(volatile u16 *)place(f, offset);
}
INLINE void set_half(const struct frame *f, u32 offset, u32 value) {
  *(volatile u16 *)place(f, offset) = (u16)value;
}

INLINE u32 fold(u32 sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}
/* What takes `sum` away when it is added. */
INLINE u32 less(u32 sum) {
  return ~fold(sum) & 0xffff;
}

/* Frames that are held back from the MAC until their checksums are in, and those behind them.  Pieces are those of all
 * these frames, each with its sum as the hardware stores it. */
enum { HELD = 128 }; /* frames and pieces at most; a power of two */
struct held_piece {
  u16 sum, length;
};
struct held_frame {
  u32 index; /* the send index when its data are there */
  u32 start, length;
  u32 flags; /* of its first piece */
  u32 end_piece;
};
struct held {
  u32 first, last;             /* frames, counted on without wrapping */
  u32 first_piece, last_piece; /* pieces, likewise */
  u32 flags, holds;            /* of the frame under way: those of its first piece, and whether it is held */
  u32 start_piece;             /* where its pieces begin */
};
extern struct held held;
extern struct held_frame held_frame[HELD];
extern volatile struct held_piece held_piece[HELD];

/* What is said of a received frame. */
struct received_sums {
  u32 ip;    /* sum of the IP header */
  u32 flags; /* of the return descriptor */
  u32 cut;   /* where the last piece begins, which the hardware sums; 0: the frame goes in one, without a sum */
  u32 kept;  /* two bytes of the frame that were replaced at `cut`, << 16 | 1; 0: none */
};

/* sums.c */
void release_held(void);
void load_sums(void);
struct received_sums take_sums(u32 buffer, u32 length);

#endif
