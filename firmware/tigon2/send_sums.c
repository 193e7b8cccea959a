/* Checksums of frames to send.  They lie in the send buffer, and the MAC has heard of them, when their data have come;
 * until their checksums are in, it waits for them as it knows how to.
 */
#include "sums.h"

u32 held_piece[HELD] __attribute__((section(".sums.state")));
volatile struct held_sum held_sum[HELD] __attribute__((section(".uncleared"), aligned(8)));

/* Puts the checksums that the host asks for into a frame of whose bytes `whole` is the sum; returns false if it is to
 * be looked at closely. */
SUMS __attribute__((noinline, minsize)) static u32 put_sums(u32 start, u32 length, u32 flags, u32 whole) {
  struct heads h;
  if (start + length > hot->send_buffer_end || !look(start, length, 0, &h)) return 0;
  u32 header = add(add(add(h.w16, h.w20), h.w28), h.w32 >> 16), halves = (h.w12 & 0xffff) + (h.w24 & 0xffff);
  if (flags & SEND_IP_CHECKSUM) HALF(h.at + ETHERNET + 10) = (u16)~fold(add(header, halves));
  if (!(flags & SEND_CHECKSUM)) return 1;
  u32 sum = add(whole, ~add(add(add(h.w8, h.w12), header), h.w24));
  u32 field = h.at + h.field;
  /* The host has put the sum of addresses, protocol and length into the field, or nothing. */
  if (!(hot->send_flags & RING_NO_PSEUDO_HEADER)) {
    sum = add(add(add(sum, h.w28), (h.w24 & 0xffff) + (h.w32 >> 16)), ~(u32)HALF(field));
    sum = add(sum, h.protocol + (h.w16 >> 16) - IP_HEADER);
  }
  sum = ~fold(sum) & 0xffff;
  if (__builtin_expect(!sum, 0) && h.protocol == UDP) sum = 0xffff;
  HALF(field) = (u16)sum;
  return 1;
}

/* Frames whose transfers are complete get their checksums, and go.  Returns where the read ring stands. */
SUMS __attribute__((minsize)) u32 release_held(struct registers *r) {
  u32 consumer = r->dma_read_consumer, complete = hot->sent_at[consumer % DMA_RING / DMA_ENTRY], at = hot->held.first;
  if (!hot->held.piece) at = complete = hot->held.first = hot->held.last;
  if ((s32)(complete - at) <= 0) return consumer;
  u32 start = hot->held.start;
  do {
    u32 flags = held_piece[at % HELD], whole = 0, length = 0, piece;
    do {
      u32 sum = held_sum[at % HELD].sum;
      piece = held_piece[at++ % HELD];
      if (__builtin_expect(length & 1, 0)) sum = (sum & 0xff) << 8 | sum >> 8;
      whole += sum;
      length += piece >> 16;
    } while (!(piece & SEND_END));
    if (flags & (SEND_CHECKSUM | SEND_IP_CHECKSUM) && !put_sums(start, length, flags, whole))
      put_sums_closely(start, length, flags, whole);
    start += (length + 7) & ~7u;
    if (start >= hot->send_buffer_end) start -= hot->send_buffer_end - hot->send_buffer_base;
  } while ((s32)(complete - at) > 0);
  hot->held.first = at;
  hot->held.start = start;
  r->tx_buffer_producer = start;
  return consumer;
}
