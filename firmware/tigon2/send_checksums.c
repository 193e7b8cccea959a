// Checksums of frames to send.  They are in the send buffer, and the MAC was notified of them, when their data have
// come; until their checksums are in, it waits for them as it knows how to.
#include "checksums.h"

u32 held_piece[HELD] __attribute__((section(".checksums.state")));
volatile struct held_sum held_sum[HELD] __attribute__((section(".uncleared"), aligned(8)));

// Puts the checksums that the host asks for into a frame of whose bytes `whole` is the sum; returns false if it is to
// be looked at by sw_checksums.c.
CHECKSUMS __attribute__((noinline, minsize)) static u32 put_checksums(u32 start, u32 length, u32 flags, u32 whole) {
  struct headers h;
  if (start + length > state->send_buffer_end || !parse_headers(start, length, 0, &h)) return 0;
  u32 header = add(add(add(h.w16, h.w20), h.w28), h.w32 >> 16), halves = (h.w12 & 0xffff) + (h.w24 & 0xffff);
  if (flags & SEND_IP_CHECKSUM) HALF(h.at + ETHERNET + 10) = (u16)~fold(add(header, halves));
  if (!(flags & SEND_CHECKSUM)) return 1;
  u32 sum = add(whole, ~add(add(add(h.w8, h.w12), header), h.w24));
  u32 field = h.at + h.field;
  // The host has put the sum of addresses, protocol and length into the field, or nothing.
  if (!(state->send_flags & RING_NO_PSEUDO_HEADER)) {
    sum = add(add(add(sum, h.w28), (h.w24 & 0xffff) + (h.w32 >> 16)), ~(u32)HALF(field));
    sum = add(sum, h.protocol + (h.w16 >> 16) - IP_HEADER);
  }
  sum = ~fold(sum) & 0xffff;
  if (__builtin_expect(!sum, 0) && h.protocol == UDP) sum = 0xffff;
  HALF(field) = (u16)sum;
  return 1;
}

// Frames whose transfers are complete get their checksums, and go.  Returns the read ring's consumer.
CHECKSUMS __attribute__((minsize)) u32 release_held(struct registers *r) {
  u32 consumer = r->dma_read_consumer, complete = state->sent_at[consumer % DMA_RING / DMA_ENTRY],
      at = state->held.first;
  if (!state->held.piece) at = complete = state->held.first = state->held.last;
  if ((s32)(complete - at) <= 0) return consumer;
  u32 start = state->held.start;
  do {
    u32 flags = held_piece[at % HELD], whole = 0, length = 0, piece;
    do {
      u32 sum = held_sum[at % HELD].sum;
      piece = held_piece[at++ % HELD];
      if (__builtin_expect(length & 1, 0)) sum = (sum & 0xff) << 8 | sum >> 8;
      whole += sum;
      length += piece >> 16;
    } while (!(piece & SEND_END));
    if (flags & (SEND_CHECKSUM | SEND_IP_CHECKSUM) && !put_checksums(start, length, flags, whole))
      put_checksums_slow(start, length, flags, whole);
    start += (length + 7) & ~7u;
    if (start >= state->send_buffer_end) start -= state->send_buffer_end - state->send_buffer_base;
  } while ((s32)(complete - at) > 0);
  state->held.first = at;
  state->held.start = start;
  r->tx_buffer_producer = start;
  return consumer;
}
