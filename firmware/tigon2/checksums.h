// Internet checksums of frames in the packet memory.  The DMA assist sums whole transfers; what is not meant is taken
// away from that and what is missing is added.  Nearly all frames are TCP or UDP in IPv4 without options, perhaps
// behind a VLAN tag: their headers are nine words at known places, looked at here.  The others are for sw_checksums.c.
#ifndef TIGON2_CHECKSUMS_H
#define TIGON2_CHECKSUMS_H

#include "state.h"

#define INLINE static inline __attribute__((always_inline))

enum { TYPE_IP = 0x800, TYPE_VLAN = 0x8100, TCP = 6, UDP = 17, FRAGMENT = 0x3fff, ETHERNET = 14, IP_HEADER = 20 };
enum { UDP_FIELD = 6, TCP_FIELD = 16 }; // where the transport layer has its checksum

// Sums are those of 16-bit numbers, where bytes at odd places are the lower half of theirs and a carry is put back in.
// It does not matter whether that is done in halves of words or in words; this adds words.  The complement of a sum,
// added, takes it away.
INLINE u32 add(u32 sum, u32 word) {
  sum += word;
  return sum + (sum < word);
}
// Only the lower half of what this returns counts.
INLINE u32 fold(u32 sum) {
  sum = (sum >> 16) + (sum & 0xffff);
  return sum + (sum >> 16);
}

#define WORD(at) (*(volatile u32 *)(at))
#define HALF(at) (*(volatile u16 *)(at))
#define BYTE(at) (*(volatile u8 *)(at))

// What is in front of the transport layer: words by their offsets, as if there were no VLAN tag.
struct headers {
  u32 at; // where the frame would then begin
  u32 w8; // the sum of the words up to there, and of the tag
  u32 w12, w16, w20, w24, w28, w32;
  u32 protocol;
  u32 field;   // offset of the transport layer's checksum
  u32 padding; // sum of what is behind the datagram
};

// The sum of a few bytes, which may begin at an odd place.
INLINE u32 sum_to(u32 from, u32 to) {
  u32 sum = 0;
  if (from & 1) sum = BYTE(from++);
  for (; from + 1 < to; from += 2) sum += HALF(from);
  if (from != to) sum += BYTE(from) << 8;
  return sum;
}

// Looks at a frame; returns false for one that is not like most.  `from_wire` is a constant: a VLAN tag and padding are
// nothing special.  Memory is read once and in order, since of two words next to each other the second costs next to
// nothing.
INLINE u32 parse_headers(u32 at, u32 length, u32 from_wire, struct headers *h) {
  enum { IPV4_NO_OPTIONS = TYPE_IP << 16 | 0x4500 }; // any type of service
  u32 w0 = WORD(at), w4 = WORD(at + 4), w8 = WORD(at + 8), w12 = WORD(at + 12);
  u32 front = add(add(w0, w4), w8);
  if (__builtin_expect(w12 - IPV4_NO_OPTIONS > 0xff, 0)) {
    if (!from_wire || w12 >> 16 != TYPE_VLAN) return 0;
    front = add(front, w12);
    at += 4;
    length -= 4;
    w12 = WORD(at + 12);
    if (w12 - IPV4_NO_OPTIONS > 0xff) return 0;
  }
  u32 w16 = WORD(at + 16), w20 = WORD(at + 20), w24 = WORD(at + 24), w28 = WORD(at + 28), w32 = WORD(at + 32);
  u32 protocol = w20 & (FRAGMENT << 16 | 0xff), end = (w16 >> 16) + ETHERNET, field = ETHERNET + IP_HEADER + UDP_FIELD;
  if (protocol != UDP) {
    field = ETHERNET + IP_HEADER + TCP_FIELD;
    if (__builtin_expect(protocol != TCP, 0)) return 0;
  }
  if (__builtin_expect(end < field + 2, 0)) return 0;
  u32 padding = 0;
  if (__builtin_expect(end != length, 0)) {
    if (!from_wire || end > length) return 0;
    padding = sum_to(at + end, at + length);
  }
  *h = (struct headers){at, front, w12, w16, w20, w24, w28, w32, protocol, field, padding};
  return 1;
}

// Pieces of frames to send that are held back from the MAC until their checksums are in, by the send index of their
// descriptors: length << 16 | flags, as there, and the sums that the hardware stores.
enum { HELD = 128 }; // at most; a power of two
extern u32 held_piece[HELD];
extern volatile struct held_sum {
  u16 sum, unused;
} held_sum[HELD];

// receive.c: of a frame that leaves no room behind it in the host's buffer.  SUM_IN_FRONT is returned for it; the
// lowest two bits of other values are bytes transferred behind the frame.
enum { SUM_IN_FRONT = 4 };
u32 sum_in_front(u32 buffer, u32 sum, const volatile struct receive_descriptor *b, u32 entry);

// sw_checksums.c: for frames that are not the common case, or wrap around the end of their buffer memory.
u32 take_checksums_slow(u32 buffer, u32 length, u32 room, volatile struct receive_descriptor *b, u32 entry);
void put_checksums_slow(u32 start, u32 length, u32 flags, u32 whole);

// send_checksums.c
u32 release_held(struct registers *r);

// Copies code to where it runs.
static inline void load_code(const u32 *load, u32 *start, const u32 *end) {
  volatile u32 *to = start;
  while (to != end) *to++ = *(const volatile u32 *)load++;
}

#endif
