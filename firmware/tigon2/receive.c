/* The way of a frame from the MAC to the host: buffer descriptor, transfer of the data, return descriptor, and the
 * index that tells the host.  Everything travels through the one DMA write ring in order, so nothing has to be
 * waited for: when the host sees an index, what it counts is there.
 */
#include "sums.h"

/* Queues the return descriptors from `first` in a cache on; their places in the return ring end before `end`. */
INLINE u32 queue_returns(u32 entry, u32 first, u32 count, u32 end) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  u32 low = hot->returns.low, at = low + (end - count) * sizeof(struct receive_descriptor);
  d->host_high = hot->returns.high + (at < low);
  d->host_low = at;
  d->local = first;
  d->length = count * sizeof(struct receive_descriptor);
  d->control = hot->descriptor_control;
  return ring_next(entry, DMA_ENTRY, DMA_RING);
}

/* With the sum of everything behind the Ethernet header asked for, a frame goes in two pieces, since the hardware sums
 * whole transfers.  Returns the entry of the second piece. */
INLINE u32 queue_header(u32 entry, u32 high, u32 low, u32 buffer, u32 length) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->host_high = high;
  d->host_low = low;
  d->local = buffer;
  d->length = length;
  d->control = hot->data_control;
  return ring_next(entry, DMA_ENTRY, DMA_RING);
}

/* The number that makes the stored sum the one meant takes the place of the frame's first two bytes, to which `sum` is
 * added; they follow by themselves, by the DMA write entry behind `entry`. */
SUMS __attribute__((noinline)) u32 sum_in_front(u32 buffer, u32 sum, const volatile struct receive_descriptor *b,
                                                u32 entry) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)ring_next(entry, DMA_ENTRY, DMA_RING);
  d->host_high = b->host_high;
  d->host_low = b->host_low;
  d->own[0] = WORD(buffer);
  d->local = (u32)&d->own[0];
  d->length = sizeof d->own[0];
  d->control = hot->data_control;
  HALF(buffer) = (u16)fold(sum + HALF(buffer));
  return SUM_IN_FRONT;
}

/* Says in the return descriptor of a received frame what is asked for.  The hardware sums the whole transfer; a number
 * behind the frame, where its FCS was, makes that the sum meant.  The host finds it behind the frame, too; where its
 * buffer has no `room` for that, the number goes to the front.  Returns how many bytes are transferred behind the
 * frame, or SUM_IN_FRONT, or 0 for a frame to be looked at closely. */
SUMS __attribute__((noinline)) static u32 take_sums(u32 buffer, u32 length, u32 room,
                                                    volatile struct receive_descriptor *b, u32 entry) {
  struct heads h;
  u32 asked = hot->receive_flags, end = buffer + length, odd = length & 1, sum, type_flags = b->type_flags;
  if (!(asked & RING_CHECKSUM) || end + FCS_BYTES > PACKET_MEMORY_END || !look(buffer, length, 1, &h)) return 0;
  u32 both = add(h.w16, h.w20), more = odd + 2;
  if (asked & RING_NO_PSEUDO_HEADER) {
    if (h.at != buffer) return 0;
    b->length = (u16)length;
    sum = ~add(h.w8, h.w12 >> 16);
  } else {
    if (h.protocol == UDP && !HALF(h.at + h.field)) return 0;
    b->length = (u16)length;
    sum = ~add(add(add(h.w8, h.w12), both), h.w24 >> 16);
    sum = add(sum, h.protocol + (h.w16 >> 16) - IP_HEADER);
    if (__builtin_expect(h.padding, 0)) sum = add(sum, ~h.padding);
  }
  sum = fold(sum) & 0xffff;
  MEANWHILE(sum);
  if (__builtin_expect(length + more > room, 0)) {
    more = sum_in_front(buffer, sum, b, entry);
  } else {
    if (odd) BYTE(end) = 0;
    HALF(end + odd) = (u16)sum;
  }
  u32 header = add(add(both, h.w24), h.w28);
  header = fold(add(header, (h.w12 & 0xffff) + (h.w32 >> 16))) << 16;
  MEANWHILE(header);
  b->checksums = header;
  type_flags |= asked & (RING_CHECKSUM | RING_IP_CHECKSUM);
  MEANWHILE(type_flags);
  b->type_flags = type_flags;
  return more;
}
_Static_assert(RING_CHECKSUM == RECEIVE_CHECKSUM && RING_IP_CHECKSUM == RECEIVE_IP_CHECKSUM,
               "flags of rings and descriptors");

/* Event: the MAC has received frames.  `sums` is a constant: all sums may be asked for, not only that of everything
 * behind the Ethernet header. */
INLINE void receive_frames(u32 sums) {
  struct registers *r = registers();
  u32 entry = hot->write_next, room = ring_room(entry, r->dma_write_consumer, DMA_ENTRY, DMA_RING);
  u32 end = r->mac_rx_producer & ~7u, next = hot->mac_receive_next;
  u32 first = 0, count = 0, frames = 0, bytes = 0, returned = hot->returned;
  struct receive_ring *ring = 0;
  while (next != end && frames < RECEIVE_BATCH) {
    /* One frame needs at most two pieces, returns of another ring and its own, and an index. */
    if (room < 5 * DMA_ENTRY) {
      wait_for_write_room(RECEIVE_EVENT);
      break;
    }
    volatile struct mac_descriptor *m = (volatile struct mac_descriptor *)next;
    u32 buffer = m->buffer, length = (m->status_length & 0xffff) - FCS_BYTES;
    ring = &hot->standard;
    if (length > ring->max_length)
      ring = &hot->jumbo;
    else if (length <= hot->mini.max_length)
      ring = &hot->mini;
    u32 taken = ring->taken;
    if (length > ring->max_length) {
      /* No buffer can take it.  Its memory is given back with that of the next frame. */
      hot->count.dropped_long++;
      next = ring_next(next, MAC_ENTRY, MAC_RECEIVE_RING);
      frames++;
      continue;
    }
    if (taken == ring->ready) {
      /* The frame waits in the packet memory for the host to give a buffer; if that fills, the MAC drops and counts. */
      hot->count.waits_for_buffers++;
      events_disable(RECEIVE_EVENT);
      buffers_wanted(ring);
      break;
    }
    ring->taken = taken + 1;
    u32 at = ring->cache + taken % RECEIVE_CACHE * sizeof(struct receive_descriptor);
    volatile struct receive_descriptor *b = (volatile struct receive_descriptor *)at;
    if (count && (at != first + count * sizeof(struct receive_descriptor) || !returned)) {
      entry = queue_returns(entry, first, count, returned ? returned : hot->returns_mask + 1);
      room -= DMA_ENTRY;
      count = 0;
    }
    u32 high = b->host_high, low = b->host_low, more = 0;
    if (sums) {
      more = take_sums(buffer, length, ring->max_length, b, entry);
      if (__builtin_expect(!more, 0)) more = take_sums_closely(buffer, length, ring->max_length, b, entry);
    } else {
      b->length = (u16)length;
    }
    next = ring_next(next, MAC_ENTRY, MAC_RECEIVE_RING);
    MEANWHILE(next);
    if (!sums) b->checksums = 0;
    returned = (returned + 1) & hot->returns_mask;
    MEANWHILE(returned);
    bytes += length;
    MEANWHILE(bytes);
    b->error_vlan = 0;
    u32 control = hot->data_control | DMA_FREES_RECEIVE_BUFFER, piece = length;
    MEANWHILE(control);
    if (sums) {
      if (more) {
        piece += more & 3;
        control |= DMA_OWN_CHECKSUM;
        ((volatile struct dma_descriptor *)entry)->checksum_to = at + 18;
      }
    } else if (__builtin_expect(hot->receive_flags & RING_CHECKSUM && length > 14, 0)) {
      entry = queue_header(entry, high, low, buffer, 14);
      room -= DMA_ENTRY;
      low += 14;
      high += low < 14;
      buffer += 14;
      if (buffer >= PACKET_MEMORY_END) buffer = buffer - PACKET_MEMORY_END + hot->send_buffer_end;
      piece -= 14;
      control |= DMA_OWN_CHECKSUM;
      b->type_flags |= RECEIVE_CHECKSUM;
      ((volatile struct dma_descriptor *)entry)->checksum_to = at + 18;
    }
    volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
    d->host_high = high;
    entry = ring_next(entry, DMA_ENTRY, DMA_RING);
    MEANWHILE(entry);
    if (sums && __builtin_expect(more & SUM_IN_FRONT, 0)) {
      entry = ring_next(entry, DMA_ENTRY, DMA_RING);
      room -= DMA_ENTRY;
    }
    d->host_low = low;
    if (!count) first = at;
    MEANWHILE(first);
    d->local = buffer;
    count++;
    frames++;
    MEANWHILE(count);
    MEANWHILE(frames);
    d->length = piece;
    room -= DMA_ENTRY;
    MEANWHILE(room);
    d->control = control;
    if (!sums) extra_receive_work();
  }
  if (!frames) return;
  hot->mac_receive_next = next;
  r->mac_rx_consumer = next;
  r->mac_rx_reference = next;
  if (!count) return;
  hot->write_next = entry = queue_returns(entry, first, count, returned ? returned : hot->returns_mask + 1);
  u32 new = (returned - hot->returned) & hot->returns_mask;
  hot->returned = returned;
  hot->count.frames_in += new;
  u32 sum = hot->count.bytes_in + bytes;
  hot->count.bytes_in_high += sum < bytes;
  hot->count.bytes_in = sum;
  hot->unreported += new;
  u32 due = hot->unreported >= hot->max_unreported;
  if (due || hot->receive_flags & RING_INDEX_AT_ONCE)
    queue_received_report(due);
  else
    r->dma_write_producer = entry;
  if (hot->unreported && hot->received_ticks && !(hot->deadlines & DEADLINE_RECEIVE))
    start_deadline(DEADLINE_RECEIVE, hot->received_ticks);
  buffers_wanted(ring);
}

HOT void receive(void) {
  receive_frames(0);
}

/* The same for a host that has asked for sums that take more work. */
SUMS static void receive_with_sums(void) {
  receive_frames(1);
}

/* Lets that serve the event, in place of receive(). */
extern u32 receive_entry[], receive_sums_load[], receive_sums_start[], receive_sums_end[];
void choose_receive(void) {
  u32 sums = hot->receive_flags & (RING_CHECKSUM | RING_IP_CHECKSUM | RING_NO_PSEUDO_HEADER);
  if (!(sums & ~(u32)RING_NO_PSEUDO_HEADER) || sums == (RING_CHECKSUM | RING_NO_PSEUDO_HEADER)) return;
  load_code(receive_sums_load, receive_sums_start, receive_sums_end);
  *(volatile u32 *)receive_entry = jump_to(receive_with_sums);
}
