// The way of a frame from the MAC to the host: buffer descriptor, transfer of the data, return descriptor, and the
// index that notifies the host.  Everything travels through the one DMA write ring in order, so nothing has to be
// waited for: when the host sees an index, what it counts is there.
#include "checksums.h"

// Queues the return descriptors from `first` in a cache on; their places in the return ring end before `end`.
INLINE u32 queue_returns(u32 entry, u32 first, u32 count, u32 end) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  u32 low = state->returns.low, at = low + (end - count) * sizeof(struct receive_descriptor);
  d->host_high = state->returns.high + (at < low);
  d->host_low = at;
  d->local = first;
  d->length = count * sizeof(struct receive_descriptor);
  d->control = state->descriptor_control;
  return ring_next(entry, DMA_ENTRY, DMA_RING);
}

// The number that makes the stored sum the one meant takes the place of the frame's first two bytes, to which `sum` is
// added; they follow by themselves, by the DMA write entry behind `entry`.
CHECKSUMS __attribute__((noinline)) u32 sum_in_front(u32 buffer, u32 sum, const volatile struct receive_descriptor *b,
                                                     u32 entry) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)ring_next(entry, DMA_ENTRY, DMA_RING);
  d->host_high = b->host_high;
  d->host_low = b->host_low;
  d->own[0] = WORD(buffer);
  d->local = (u32)&d->own[0];
  d->length = sizeof d->own[0];
  d->control = state->data_control;
  HALF(buffer) = (u16)fold(sum + HALF(buffer));
  return SUM_IN_FRONT;
}

// Says in the return descriptor of a received frame which checksums the host requested.  The hardware sums the whole
// transfer; a number behind the frame, where its FCS was, makes that the sum meant.  The host finds it behind the
// frame, too; where its buffer has no `room` for that, the number goes to the front.  Returns how many bytes are
// transferred behind the frame, or SUM_IN_FRONT, or 0 for a frame to be looked at by sw_checksums.c.
CHECKSUMS __attribute__((noinline)) static u32 take_checksums(u32 buffer, u32 length, u32 room,
                                                              volatile struct receive_descriptor *b, u32 entry) {
  struct headers h;
  u32 requested = state->receive_flags, end = buffer + length, odd = length & 1, sum, type_flags = b->type_flags;
  if (!(requested & RING_CHECKSUM) || end + FCS_BYTES > PACKET_MEMORY_END || !parse_headers(buffer, length, 1, &h))
    return 0;
  u32 both = add(h.w16, h.w20), more = odd + 2;
  if (requested & RING_NO_PSEUDO_HEADER) {
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
  type_flags |= requested & (RING_CHECKSUM | RING_IP_CHECKSUM);
  MEANWHILE(type_flags);
  b->type_flags = type_flags;
  return more;
}
_Static_assert(RING_CHECKSUM == RECEIVE_CHECKSUM && RING_IP_CHECKSUM == RECEIVE_IP_CHECKSUM,
               "flags of rings and descriptors");

// One run over the frames that the MAC has received, all of it in registers of the processor.  The functions below are
// its steps; `checksums` is a constant for each: any checksums may be requested, not only that of everything behind the
// Ethernet header.
struct receive_run {
  u32 entry, room;           // DMA write ring: the next entry, and bytes of free ones
  u32 next, end;             // the MAC's ring: the next frame, and behind the last one
  u32 first, count;          // return descriptors not queued yet: where they begin in a cache
  u32 frames, bytes;         // taken from the MAC in this run, and of them those returned
  u32 returned;              // index in the return ring, wrapped
  struct receive_ring *ring; // of the newest frame
};

// The transfer of a frame's data.
struct piece {
  u32 high, low; // host address
  u32 buffer, length, control;
};

INLINE struct receive_ring *ring_for(u32 length) {
  if (length > state->standard.max_length) return &state->jumbo;
  if (length <= state->mini.max_length) return &state->mini;
  return &state->standard;
}

INLINE void return_frames(struct receive_run *run) {
  u32 end = run->returned ? run->returned : state->returns_mask + 1;
  run->entry = queue_returns(run->entry, run->first, run->count, end);
}

// With the sum of everything behind the Ethernet header requested, a frame goes in two pieces, since the hardware
// sums whole transfers.  Queues the first one; the second one is left.
INLINE void queue_header(struct receive_run *run, struct piece *piece, volatile struct receive_descriptor *b) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)run->entry;
  d->host_high = piece->high;
  d->host_low = piece->low;
  d->local = piece->buffer;
  d->length = ETHERNET;
  d->control = state->data_control;
  run->entry = ring_next(run->entry, DMA_ENTRY, DMA_RING);
  run->room -= DMA_ENTRY;
  piece->low += ETHERNET;
  piece->high += piece->low < ETHERNET;
  piece->buffer += ETHERNET;
  if (piece->buffer >= PACKET_MEMORY_END) piece->buffer = piece->buffer - PACKET_MEMORY_END + state->send_buffer_end;
  piece->length -= ETHERNET;
  piece->control |= DMA_OWN_CHECKSUM;
  b->type_flags |= RECEIVE_CHECKSUM;
}

// Fills in the return descriptor `b` of a frame and queues the frame's transfer to the host.
INLINE void queue_frame(struct receive_run *run, volatile struct receive_descriptor *b, u32 buffer, u32 length,
                        u32 checksums) {
  u32 high = b->host_high, low = b->host_low, more = 0, checksum_to = (u32)&b->checksums + 2;
  if (checksums) {
    more = take_checksums(buffer, length, run->ring->max_length, b, run->entry);
    if (__builtin_expect(!more, 0)) more = take_checksums_slow(buffer, length, run->ring->max_length, b, run->entry);
  } else {
    b->length = (u16)length;
  }
  run->next = ring_next(run->next, MAC_ENTRY, MAC_RECEIVE_RING);
  MEANWHILE(run->next);
  if (!checksums) b->checksums = 0;
  run->returned = (run->returned + 1) & state->returns_mask;
  MEANWHILE(run->returned);
  run->bytes += length;
  MEANWHILE(run->bytes);
  b->error_vlan = 0;
  struct piece piece = {high, low, buffer, length, state->data_control | DMA_FREES_RECEIVE_BUFFER};
  MEANWHILE(piece.control);
  if (checksums) {
    if (more) {
      piece.length += more & 3;
      piece.control |= DMA_OWN_CHECKSUM;
      ((volatile struct dma_descriptor *)run->entry)->checksum_to = checksum_to;
    }
  } else if (__builtin_expect(state->receive_flags & RING_CHECKSUM && length > ETHERNET, 0)) {
    queue_header(run, &piece, b);
    ((volatile struct dma_descriptor *)run->entry)->checksum_to = checksum_to;
  }
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)run->entry;
  d->host_high = piece.high;
  run->entry = ring_next(run->entry, DMA_ENTRY, DMA_RING);
  MEANWHILE(run->entry);
  if (checksums && __builtin_expect(more & SUM_IN_FRONT, 0)) {
    run->entry = ring_next(run->entry, DMA_ENTRY, DMA_RING);
    run->room -= DMA_ENTRY;
  }
  d->host_low = piece.low;
  if (!run->count) run->first = (u32)b;
  MEANWHILE(run->first);
  d->local = piece.buffer;
  run->count++;
  run->frames++;
  MEANWHILE(run->count);
  MEANWHILE(run->frames);
  d->length = piece.length;
  run->room -= DMA_ENTRY;
  MEANWHILE(run->room);
  d->control = piece.control;
  if (!checksums) extra_receive_work();
}

// Queues what has come, as long as there is room and the host gave buffers for it.
INLINE void queue_frames(struct receive_run *run, u32 checksums) {
  while (run->next != run->end && run->frames < RECEIVE_BATCH) {
    // One frame needs at most two pieces, returns of another ring and its own, and an index.
    if (run->room < 5 * DMA_ENTRY) {
      wait_for_write_room(RECEIVE_EVENT);
      break;
    }
    volatile struct mac_descriptor *m = (volatile struct mac_descriptor *)run->next;
    u32 buffer = m->buffer, length = (m->status_length & 0xffff) - FCS_BYTES;
    struct receive_ring *ring = run->ring = ring_for(length);
    u32 taken = ring->taken;
    if (length > ring->max_length) {
      // No buffer can take it.  Its memory is given back with that of the next frame.
      state->count.dropped_long++;
      run->next = ring_next(run->next, MAC_ENTRY, MAC_RECEIVE_RING);
      run->frames++;
      continue;
    }
    if (taken == ring->ready) {
      // The frame waits in the packet memory for the host to give a buffer; if that fills, the MAC drops and counts.
      state->count.waits_for_buffers++;
      events_disable(RECEIVE_EVENT);
      buffers_wanted(ring);
      break;
    }
    ring->taken = taken + 1;
    u32 at = ring->cache + taken % RECEIVE_CACHE * sizeof(struct receive_descriptor);
    if (run->count && (at != run->first + run->count * sizeof(struct receive_descriptor) || !run->returned)) {
      return_frames(run);
      run->room -= DMA_ENTRY;
      run->count = 0;
    }
    queue_frame(run, (volatile struct receive_descriptor *)at, buffer, length, checksums);
  }
}

// Notifies the MAC and the assist of what was taken and queued, and sees to it that the host is notified.
INLINE void end_receive_run(struct registers *r, struct receive_run *run) {
  state->mac_receive_next = run->next;
  r->mac_rx_consumer = run->next;
  r->mac_rx_reference = run->next;
  if (!run->count) return;
  return_frames(run);
  state->write_next = run->entry;
  u32 new = (run->returned - state->returned) & state->returns_mask;
  state->returned = run->returned;
  state->count.frames_in += new;
  u32 sum = state->count.bytes_in + run->bytes;
  state->count.bytes_in_high += sum < run->bytes;
  state->count.bytes_in = sum;
  state->unreported += new;
  u32 due = state->unreported >= state->max_unreported;
  if (due || state->receive_flags & RING_INDEX_AT_ONCE)
    queue_received_report(due);
  else
    r->dma_write_producer = run->entry;
  if (state->unreported && state->received_ticks && !(state->deadlines & DEADLINE_RECEIVE))
    start_deadline(DEADLINE_RECEIVE, state->received_ticks);
  buffers_wanted(run->ring);
}

// Event: the MAC has received frames.
INLINE void receive_frames(u32 checksums) {
  struct registers *r = registers();
  extension_receive(r);
  struct receive_run run = {.entry = state->write_next, .returned = state->returned};
  run.room = ring_room(run.entry, r->dma_write_consumer, DMA_ENTRY, DMA_RING);
  run.end = extension_receive_end(r);
  run.next = state->mac_receive_next;
  queue_frames(&run, checksums);
  if (run.frames) end_receive_run(r, &run);
}

SCRATCHPAD_CODE void receive(void) {
  receive_frames(0);
}

// The same for a host that has requested sums that take more work.
CHECKSUMS static void receive_with_checksums(void) {
  receive_frames(1);
}

// Lets that serve the event, in place of receive().
extern u32 receive_entry[], receive_checksums_load[], receive_checksums_start[], receive_checksums_end[];
void choose_receive(void) {
  u32 checksums = state->receive_flags & (RING_CHECKSUM | RING_IP_CHECKSUM | RING_NO_PSEUDO_HEADER);
  if (!(checksums & ~(u32)RING_NO_PSEUDO_HEADER) || checksums == (RING_CHECKSUM | RING_NO_PSEUDO_HEADER)) return;
  load_code(receive_checksums_load, receive_checksums_start, receive_checksums_end);
  *(volatile u32 *)receive_entry = jump_to(receive_with_checksums);
}
