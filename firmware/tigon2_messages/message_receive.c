// The way of a message from the MAC to the program's memory: the data of each frame go by one or two transfers straight
// to the pages of the entry that has the message's number.  A frame that no entry is for is dropped, and counted in the
// program's memory, too: a transfer is what gives its packet memory back.
#include "checksums.h"
#include "messages.h"

// Entries of the DMA write ring that a frame may need: its data, a completion, and the count of dropped frames.
enum { OF_A_FRAME = 4, CLOSED = MESSAGE_CLOSED };

// Looks at the entries that were posted.  Returns whether some wait for room.
SMALL_CODE u32 take_receive_entries(void) {
  struct messages *m = own();
  while (m->receive_taken != m->receive_posted) {
    u32 number = m->receive_taken, place = number % MESSAGE_ENTRIES;
    volatile struct incoming *in = &incoming[place];
    if (in->received != (u32)CLOSED) { // the place is not free
      COUNT(ignored);
      m->receive_posted = number;
      return 0;
    }
    if (!write_room()) return 1;
    u32 error = check_entry(&message_area.user.receive[place], &in->message);
    if (error) {
      state->write_next = queue_completion(state->write_next, COMPLETION(receive, number), number, error, 0);
      registers()->dma_write_producer = state->write_next;
    } else {
      in->received = 0;
    }
    m->receive_taken = number + 1;
  }
  return 0;
}

// An address in the receive buffer, which may end in the middle of a frame.
static inline u32 wrapped(u32 at) {
  return at < PACKET_MEMORY_END ? at : at - PACKET_MEMORY_END + state->send_buffer_end;
}

// Frames begin at multiples of 8.
SMALL_CODE static u32 frame_type(u32 next) {
  return HALF(wrapped(((volatile struct mac_descriptor *)next)->buffer + 8) + 4);
}

__attribute__((noinline)) static u32 drop(enum message_drop reason, u32 entry) {
  COUNT(dropped[reason]);
  own()->dropped++;
  return entry;
}

// Queues the data of a frame, or drops it.  Returns the next entry of the DMA write ring.
static inline u32 take_message_frame(struct messages *m, u32 buffer, u32 length, u32 entry) {
  u32 a = wrapped(buffer + 16), b = wrapped(buffer + 24);
  u32 queue = HALF(wrapped(buffer + 8) + 6), number = WORD(a), offset = WORD(a + 4), whole = WORD(b),
      bytes = HALF(b + 4);
  if (queue || !bytes || bytes > MESSAGE_DATA || MESSAGE_HEADERS + bytes > length || offset > whole ||
      bytes > whole - offset)
    return drop(MESSAGE_DROP_HEADER, entry);
  volatile struct incoming *in = &incoming[number % MESSAGE_ENTRIES];
  u32 received = in->received, status = MESSAGE_ERROR_ROOM, next = 0;
  if (m->receive_taken - 1 - number >= MESSAGE_ENTRIES || received == (u32)CLOSED)
    return drop(MESSAGE_DROP_NO_ENTRY, entry);
  if (received != offset) return drop(MESSAGE_DROP_ORDER, entry);
  if (whole <= in->message.length) {
    status = MESSAGE_ERROR_PAGE;
    next = queue_data(entry, in->message.place + offset, wrapped(buffer + MESSAGE_HEADERS), bytes,
                      DMA_FREES_RECEIVE_BUFFER);
  }
  if (next) {
    entry = next;
    status = MESSAGE_DONE;
    in->received = offset + bytes;
    if (offset + bytes != whole) return entry;
  } else {
    drop(MESSAGE_DROP_REFUSED, entry);
    whole = 0;
  }
  in->received = (u32)CLOSED;
  return queue_completion(entry, COMPLETION(receive, number), number, status, whole);
}

// The count of dropped frames goes to the program.  If the last frame was one of them, it goes from the beginning of
// that frame's buffer: a transfer from there is what gives its memory back, and that of those before it.
__attribute__((noinline)) static u32 report_drops(u32 buffer, u32 entry) {
  struct messages *m = own();
  u32 local = buffer ? buffer : (u32) & ((struct dma_descriptor *)entry)->own[0];
  WORD(local) = m->dropped;
  return queue_transfer(entry, m->completions + __builtin_offsetof(struct message_completions, dropped), local,
                        sizeof m->dropped, state->descriptor_control | (buffer ? DMA_FREES_RECEIVE_BUFFER : 0));
}

// Takes frames for the message queues from the head of the MAC's ring, and looks for the next one behind them.
SMALL_CODE void receive_messages(struct registers *r) {
  struct messages *m = own();
  u32 next = state->mac_receive_next, end = r->mac_rx_producer & ~7u, entry = state->write_next;
  if (m->in_use && !m->closing) {
    u32 room = ring_room(entry, r->dma_write_consumer, DMA_ENTRY, DMA_RING), dropped = m->dropped, dropped_at = 0;
    while (next != end && frame_type(next) == MESSAGE_TYPE) {
      if (room < OF_A_FRAME * DMA_ENTRY) {
        wait_for_write_room(RECEIVE_EVENT);
        break;
      }
      volatile struct mac_descriptor *d = (volatile struct mac_descriptor *)next;
      u32 buffer = d->buffer, before = entry, so_far = m->dropped;
      entry = take_message_frame(m, buffer, (d->status_length & 0xffff) - FCS_BYTES, entry);
      room -= (entry - before) & (DMA_RING - 1);
      dropped_at = m->dropped == so_far ? 0 : buffer;
      next = ring_next(next, MAC_ENTRY, MAC_RECEIVE_RING);
    }
    if (next != state->mac_receive_next) {
      if (m->dropped != dropped) entry = report_drops(dropped_at, entry);
      state->write_next = entry;
      r->dma_write_producer = entry;
      state->mac_receive_next = next;
      r->mac_rx_consumer = next;
      r->mac_rx_reference = next;
    }
    u32 ring_end = next;
    for (u32 i = 0; i < RECEIVE_BATCH && ring_end != end && frame_type(ring_end) != MESSAGE_TYPE; i++)
      ring_end = ring_next(ring_end, MAC_ENTRY, MAC_RECEIVE_RING);
    end = ring_end;
  }
  m->receive_end = end;
}

// Where the frames for the host's rings end, after that.
SMALL_CODE u32 ring_frames_end(void) {
  return own()->receive_end;
}
