// The way of a message from the program's memory to the MAC: each frame gets its headers from the processor, and its
// data by one or two transfers, straight from the pages of the message.  The MAC is notified of the frame before its
// data arrive, as of those of the host's ring.
#include "checksums.h"
#include "messages.h"

// Entries of the DMA read ring that are left to fetches of descriptors, and those that a frame may need.
enum { LEFT_TO_FETCHES = 2, OF_A_FRAME = 2, LONGEST_FRAME = MESSAGE_HEADERS + MESSAGE_DATA };

// Reports messages whose last byte was read, and refused entries, in order.  Returns whether more wait for room.
SMALL_CODE static u32 report_messages(void) {
  struct messages *m = own();
  while (m->send_reported != m->send_taken) {
    u32 number = m->send_reported;
    volatile struct outgoing *o = &outgoing[number % MESSAGE_ENTRIES];
    u32 status = o->status;
    if (!status) {
      if (!m->send_read) break;
      status = MESSAGE_DONE;
    }
    if (!write_room()) return 1;
    if (status == MESSAGE_DONE) m->send_read--;
    state->write_next =
        queue_completion(state->write_next, COMPLETION(send, number), number, status, o->message.length);
    registers()->dma_write_producer = state->write_next;
    m->send_reported = number + 1;
  }
  return 0;
}

// The last transfer of a message is complete.  One that was begun before the queues were closed is of no interest.
SMALL_CODE void message_read(void) {
  struct messages *m = own();
  if (!m->in_use || m->closing) return;
  m->send_read++;
  if (report_messages()) event_set(MESSAGES_EVENT);
}

// Begins with the next message that was posted, passing over refused ones.  Returns false if there is none.
static inline u32 next_message(struct messages *m) {
  while (m->send_taken != m->send_posted) {
    u32 place = m->send_taken++ % MESSAGE_ENTRIES;
    volatile struct outgoing *o = &outgoing[place];
    o->status = check_entry(&message_area.user.send[place], &o->message);
    m->left = o->message.length;
    m->offset = 0;
    if (m->left) return 1;
  }
  return 0;
}

// Where the next things go, and how much room there is for them, in bytes.
struct send_room {
  u32 entry, entries; // DMA read ring
  u32 mac, macs;      // the MAC's ring
  u32 at, space;      // send buffer
};

// Writes Ethernet's and the message's header at a multiple of 8 in the send buffer, which may end in their middle.
static inline void put_headers(const struct messages *m, u32 at, u32 number, u32 length, u32 bytes) {
  const u32 word[8] = {m->addresses[0], m->addresses[1], m->addresses[2], MESSAGE_TYPE << 16,
                       number,          m->offset,       length,          bytes << 16};
  for (u32 i = 0; i < 8; i += 2) {
    if (at == state->send_buffer_end) at = state->send_buffer_base;
    ((volatile u32 *)at)[0] = word[i];
    ((volatile u32 *)at)[1] = word[i + 1];
    at += 8;
  }
}

// Queues the next frame of the message in progress.  Returns false if its pages are no longer in the table.
static inline u32 queue_message_frame(struct messages *m, struct send_room *room) {
  u32 number = m->send_taken - 1, bytes = m->left < MESSAGE_DATA ? m->left : MESSAGE_DATA, at = room->at;
  volatile struct outgoing *o = &outgoing[number % MESSAGE_ENTRIES];
  put_headers(m, at, number, o->message.length, bytes);
  u32 size = state->send_buffer_end - state->send_buffer_base, local = at + MESSAGE_HEADERS;
  if (local >= state->send_buffer_end) local -= size;
  u32 before = room->entry, sent = state->sent_at[before % DMA_RING / DMA_ENTRY], place = o->message.place + m->offset;
  u32 entry = queue_data(before, place, local, bytes, DMA_FILLS_SEND_BUFFER);
  if (!entry) {
    o->status = MESSAGE_ERROR_PAGE;
    m->left = o->message.length = 0;
    return 0;
  }
  u32 last = before;
  do {
    last = room->entry;
    room->entry = ring_next(last, DMA_ENTRY, DMA_RING);
    state->sent_at[room->entry % DMA_RING / DMA_ENTRY] = sent;
    room->entries -= DMA_ENTRY;
  } while (room->entry != entry);

  volatile struct mac_descriptor *mac = (volatile struct mac_descriptor *)room->mac;
  u32 whole = (MESSAGE_HEADERS + bytes + 7) & ~7u;
  mac->buffer = at;
  mac->status_length = MESSAGE_HEADERS + bytes;
  room->mac = ring_next(room->mac, MAC_ENTRY, MAC_SEND_RING);
  room->macs -= MAC_ENTRY;
  room->space -= whole;
  at += whole;
  room->at = at < state->send_buffer_end ? at : at - size;
  m->offset += bytes;
  m->left -= bytes;
  if (!m->left) watch_read(last, WATCH_EXTENSION);
  return 1;
}

// Queues frames of messages while there is room for them.  Returns whether more are to be sent.
static inline u32 queue_message_frames(struct messages *m, u32 *queued) {
  struct registers *r = registers();
  struct send_room room = {.entry = state->read_next, .mac = state->mac_send_next, .at = state->send_buffer_next};
  u32 more = 1;
  room.entries = ring_room(room.entry, r->dma_read_consumer, DMA_ENTRY, DMA_RING);
  room.macs = ring_room(room.mac, r->mac_tx_consumer, MAC_ENTRY, MAC_SEND_RING);
  room.space = r->tx_buffer_consumer - room.at - 8;
  if ((s32)room.space < 0) room.space += state->send_buffer_end - state->send_buffer_base;
  for (u32 frames = 0; frames < MESSAGE_BATCH; frames++) {
    more = m->left || next_message(m);
    if (!more || room.entries < (LEFT_TO_FETCHES + OF_A_FRAME) * DMA_ENTRY || !room.macs ||
        room.space < LONGEST_FRAME + 8)
      break;
    *queued += queue_message_frame(m, &room);
  }
  if (*queued) {
    state->send_buffer_next = room.at;
    state->read_next = room.entry;
    r->dma_read_producer = room.entry;
    state->mac_send_next = room.mac;
    r->mac_tx_producer = room.mac;
    if (state->held.piece) state->held.start = room.at;
  }
  return more;
}

// Frames of the host's ring that are held back for their checksums go before what is behind them in the send buffer.
static u32 ring_frames_are_held(void) {
  if (!state->held.piece) return 0;
  release_held(registers());
  return state->held.first != state->held.last;
}

// Sends and reports.  Returns whether something is left to do.
SMALL_CODE u32 send_messages(void) {
  struct messages *m = own();
  u32 more = m->left || m->send_taken != m->send_posted, queued = 0;
  // The send buffer is filled in order, and a frame of the host's ring may have been begun.
  if (more && !state->frame_length && !ring_frames_are_held()) more = queue_message_frames(m, &queued);
  if (!more || queued) m->turn = 0;
  return report_messages() | more;
}

// Frames of the host's ring are ready: after each batch of them, messages have a turn.  Returns whether the ring has to
// wait until they have had it.
SMALL_CODE u32 messages_send_first(void) {
  struct messages *m = own();
  if (state->frame_length || m->closing) return 0;
  if (!m->turn) {
    m->turn = 1;
    return 0;
  }
  send_messages();
  return m->turn;
}
