/* Checksums: the parts that processors work out; see sums.h.  A host that asks for
 * them has this code copied to where it runs. */
#include "sums.h"

enum { TYPE_IP = 0x800, TYPE_VLAN = 0x8100, TCP = 6, UDP = 17, FRAGMENT = 0x3fff };

struct held held;
struct held_frame held_frame[HELD] __attribute__((section(".uncleared")));
volatile struct held_piece held_piece[HELD] __attribute__((section(".uncleared")));

/* The sum of the bytes from an even offset on. */
SUMS __attribute__((noinline)) static u32 sum_of(const struct frame *f, u32 from, u32 to) {
  u32 at = place(f, from), left = to - from, base = f->base, end = f->end, sum = 0;
  if (at & 2 && left >= 2) {
    sum = *(volatile u16 *)at;
    at += 2;
    left -= 2;
  }
  for (; left; at += 4) {
    if (at == end) at = base;
    if (left < 4) {
      if (left > 1) sum += *(volatile u16 *)at;
      if (left & 1) sum += (u32) * (volatile u8 *)(at + left - 1) << 8;
      break;
    }
    u32 word = *(volatile u32 *)at;
    sum += word >> 16;
    sum += word & 0xffff;
    left -= 4;
  }
  return fold(sum);
}

/* The sum of what follows a datagram in its frame, which may begin at an odd place. */
SUMS static u32 padding_of(const struct frame *f, const struct datagram *d) {
  if (d->end == f->length) return 0;
  if (!(d->end & 1)) return sum_of(f, d->end, f->length);
  return fold(*(volatile u8 *)place(f, d->end) + sum_of(f, d->end + 1, f->length));
}

/* Looks for an IPv4 datagram that is whole in the frame, behind a VLAN tag perhaps; returns whether there is one. */
SUMS __attribute__((noinline)) static u32 find_datagram(const struct frame *f, struct datagram *d) {
  u32 ip = 14;
  if (f->length >= 18 && half(f, 12) == TYPE_VLAN) ip = 18;
  if (f->length < ip + 20 || half(f, ip - 2) != TYPE_IP) return 0;
  u32 first = half(f, ip), header = first >> 6 & 0x3c, total = half(f, ip + 2);
  if (first >> 12 != 4 || header < 20 || total < header || ip + total > f->length) return 0;
  d->ip = ip;
  d->transport = ip + header;
  d->end = ip + total;
  d->protocol = half(f, ip + 8) & 0xff;
  d->field = d->transport + (d->protocol == TCP ? 16 : 6);
  u32 known = d->protocol == TCP || d->protocol == UDP;
  if (!known || half(f, ip + 6) & FRAGMENT || d->field + 2 > d->end) d->field = 0;
  return 1;
}

/* The sum of addresses, protocol and length, which the transport layer's checksum covers, too. */
SUMS static u32 pseudo_header(const struct frame *f, const struct datagram *d) {
  return fold(sum_of(f, d->ip + 12, d->ip + 20) + d->protocol + d->end - d->transport);
}

/* ---- Sending ------------------------------------------------------------------------------------------------------
 */

/* Puts the checksums that the host asks for into a frame that lies in the send buffer, of whose bytes `whole` is the
 * sum. */
SUMS static void put_checksums(const struct frame *f, u32 flags, u32 whole) {
  struct datagram d;
  if (!find_datagram(f, &d)) return;
  u32 header = sum_of(f, d.ip, d.transport);
  if (flags & SEND_CHECKSUM && d.field) {
    u32 sum = whole + less(sum_of(f, 0, d.ip)) + less(header) + less(padding_of(f, &d));
    /* The host has put that part into the field, or nothing. */
    if (!(hot->send_flags & RING_NO_PSEUDO_HEADER)) sum += less(half(f, d.field)) + pseudo_header(f, &d);
    sum = less(sum);
    set_half(f, d.field, !sum && d.protocol == UDP ? 0xffff : sum);
  }
  if (flags & SEND_IP_CHECKSUM) set_half(f, d.ip + 10, less(header + less(half(f, d.ip + 10))));
}

/* The MAC waits for held frames, as it knows how to: here their data come to be there.  Those whose transfers are
 * complete get their checksums, and go. */
SUMS void release_held(void) {
  struct registers *r = registers();
  u32 complete = sent_index();
  while (held.first != held.last) {
    const struct held_frame *h = &held_frame[held.first % HELD];
    if ((s32)(complete - h->index) < 0) break;
    struct frame f = {h->start, h->length, hot->send_buffer_base, hot->send_buffer_end};
    u32 whole = 0, offset = 0, piece = held.first_piece;
    for (; piece != h->end_piece; piece++) {
      const volatile struct held_piece *p = &held_piece[piece % HELD];
      u32 sum = p->sum;
      whole += offset & 1 ? (sum & 0xff) << 8 | sum >> 8 : sum;
      offset += p->length;
    }
    held.first_piece = piece;
    if (h->flags & (SEND_CHECKSUM | SEND_IP_CHECKSUM)) put_checksums(&f, h->flags, fold(whole));
    u32 end = (f.length + 7) & ~7u;
    r->tx_buffer_producer = place(&f, end);
    held.first++;
  }
}

/* ---- Receiving ----------------------------------------------------------------------------------------------------
 */

/* Works out what the return descriptor of a received frame is to say, and into how many pieces the frame is cut.  The
 * sum of the last piece is the one asked for: in front of the transport layer's bytes stands, in place of two bytes
 * that have a transfer of their own, the pseudo-header's sum less that of the padding. */
SUMS struct received_sums take_sums(u32 buffer, u32 length) {
  struct frame f = {buffer, length, hot->send_buffer_end, PACKET_MEMORY_END};
  struct datagram d;
  struct received_sums s = {0};
  u32 asked = hot->receive_flags, known = find_datagram(&f, &d);
  if (known && asked & RING_IP_CHECKSUM) {
    s.ip = sum_of(&f, d.ip, d.transport);
    s.flags |= RECEIVE_IP_CHECKSUM;
  }
  if (!(asked & RING_CHECKSUM) || length <= 14) return s;
  if (asked & RING_NO_PSEUDO_HEADER) {
    s.cut = 14;
    s.flags |= RECEIVE_CHECKSUM;
  } else if (known && d.field && (d.protocol == TCP || half(&f, d.field))) {
    u32 front = fold(pseudo_header(&f, &d) + less(padding_of(&f, &d)));
    s.cut = d.transport - 2;
    s.kept = half(&f, s.cut) << 16 | 1;
    set_half(&f, s.cut, front);
    s.flags |= RECEIVE_CHECKSUM;
  }
  return s;
}

/* ---- Where this runs ----------------------------------------------------------------------------------------------
 */
extern u32 sums_start[], sums_end[], sums_load[];
void load_sums(void) {
  for (u32 i = 0; &sums_start[i] < sums_end; i++) ((volatile u32 *)sums_start)[i] = ((volatile u32 *)sums_load)[i];
}
