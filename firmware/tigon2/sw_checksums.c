// Checksums of frames that are not the common case: other protocols, options in the IP header, fragments, or the end of
// the buffer memory in their middle.  It runs from SRAM, and is small rather than fast.
#include "checksums.h"

#define SMALL __attribute__((minsize, noinline))

// A sum that changes nothing but keeps positive what others are taken from.
enum { NOTHING = 0xffff * 8 };

struct frame {
  u32 start, length;
  u32 base, end; // of the buffer memory
};

// What is in it; offsets from its start.
struct datagram {
  u32 ip; // 0: no IPv4 datagram that is whole in the frame
  u32 transport, end;
  u32 protocol;
  u32 field; // the transport layer's checksum; 0 if there is none, or the datagram is a fragment
};

SMALL static u32 place(const struct frame *f, u32 offset) {
  u32 at = f->start + offset;
  return at < f->end ? at : at - f->end + f->base;
}
SMALL static u32 half(const struct frame *f, u32 offset) {
  return HALF(place(f, offset));
}
SMALL static void set_half(const struct frame *f, u32 offset, u32 value) {
  HALF(place(f, offset)) = (u16)value;
}

// The sum of the bytes from one offset up to another.
SMALL static u32 sum_of(const struct frame *f, u32 from, u32 to) {
  u32 sum = 0;
  if (from & 1 && from != to) sum = BYTE(place(f, from++));
  for (; from + 1 < to; from += 2) sum += half(f, from);
  if (from < to) sum += BYTE(place(f, from)) << 8;
  return fold(sum) & 0xffff;
}

// Looks for an IPv4 datagram that is whole in the frame, behind a VLAN tag perhaps.
SMALL static struct datagram find_datagram(const struct frame *f) {
  struct datagram d = {0};
  u32 ip = ETHERNET;
  if (f->length >= ETHERNET + 4 && half(f, 12) == TYPE_VLAN) ip = ETHERNET + 4;
  if (f->length < ip + IP_HEADER || half(f, ip - 2) != TYPE_IP) return d;
  u32 first = half(f, ip), header = first >> 6 & 0x3c, total = half(f, ip + 2);
  if (first >> 12 != 4 || header < IP_HEADER || total < header || ip + total > f->length) return d;
  d.ip = ip;
  d.transport = ip + header;
  d.end = ip + total;
  d.protocol = half(f, ip + 8) & 0xff;
  u32 known = d.protocol == UDP || d.protocol == TCP;
  u32 field = d.transport + (d.protocol == UDP ? UDP_FIELD : TCP_FIELD);
  if (known && !(half(f, ip + 6) & FRAGMENT) && field + 2 <= d.end) d.field = field;
  return d;
}

// The sum of addresses, protocol and length, which the transport layer's checksum covers, too.
SMALL static u32 pseudo_header(const struct frame *f, const struct datagram *d) {
  return sum_of(f, d->ip + 12, d->ip + 20) + d->protocol + d->end - d->transport;
}

SMALL u32 take_checksums_slow(u32 buffer, u32 length, u32 room, volatile struct receive_descriptor *b, u32 entry) {
  struct frame f = {buffer, length, state->send_buffer_end, PACKET_MEMORY_END};
  struct datagram d = find_datagram(&f);
  u32 requested = state->receive_flags, odd = length & 1, sum = NOTHING;
  b->length = (u16)length;
  b->checksums = 0;
  if (d.ip && requested & RING_IP_CHECKSUM) {
    b->checksums = sum_of(&f, d.ip, d.transport) << 16;
    b->type_flags |= RECEIVE_IP_CHECKSUM;
  }
  if (!(requested & RING_CHECKSUM)) return 0;
  if (requested & RING_NO_PSEUDO_HEADER) {
    sum -= sum_of(&f, 0, ETHERNET);
  } else {
    if (!d.field || (d.protocol == UDP && !half(&f, d.field))) return 0;
    sum += pseudo_header(&f, &d) - sum_of(&f, 0, d.transport) - sum_of(&f, d.end, length);
  }
  b->type_flags |= RECEIVE_CHECKSUM;
  if (length + odd + 2 > room) return sum_in_front(buffer, sum, b, entry);
  if (odd) BYTE(place(&f, length)) = 0;
  set_half(&f, length + odd, fold(sum));
  return odd + 2;
}

SMALL void put_checksums_slow(u32 start, u32 length, u32 flags, u32 whole) {
  struct frame f = {start, length, state->send_buffer_base, state->send_buffer_end};
  struct datagram d = find_datagram(&f);
  if (!d.ip) return;
  u32 front = sum_of(&f, 0, d.transport);
  if (flags & SEND_IP_CHECKSUM)
    set_half(&f, d.ip + 10, ~fold(NOTHING + sum_of(&f, d.ip, d.transport) - half(&f, d.ip + 10)));
  if (!(flags & SEND_CHECKSUM) || !d.field) return;
  u32 sum = NOTHING + (fold(whole) & 0xffff) - front - sum_of(&f, d.end, length);
  if (!(state->send_flags & RING_NO_PSEUDO_HEADER)) sum += pseudo_header(&f, &d) - half(&f, d.field);
  sum = ~fold(sum) & 0xffff;
  set_half(&f, d.field, !sum && d.protocol == UDP ? 0xffff : sum);
}
