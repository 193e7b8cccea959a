/* The way of a frame from the host to the MAC: its descriptors are fetched many at a time, each piece is transferred
 * into the send buffer, and the MAC is told of the frame before its data arrive.  The MAC waits for them by itself, so
 * a frame costs no completion; the host gets its buffers back by an index, by count or by time.
 */
#include "sums.h"

/* Event, or count reached: tells the host what has been sent. */
HOT void report_sent(void) {
  event_clear(REPORT_SENT_EVENT);
  hot->deadlines &= ~DEADLINE_SEND;
  u32 sent = sent_index();
  tell_sent(sent, 1);
  /* What is still being transferred has its own report to come. */
  if (hot->sent_ticks && sent != hot->sent_at[hot->read_next % DMA_RING / DMA_ENTRY])
    start_deadline(DEADLINE_SEND, hot->sent_ticks);
}

/* Passes over the rest of a frame that is longer than the whole send buffer.  The MAC never hears of its beginning. */
static void skip_frame(void) {
  if (hot->frame_length) hot->send_buffer_next = hot->frame_start;
  hot->frame_length = 0;
  while (hot->skipping && hot->send_taken != hot->send_ready) {
    volatile struct send_descriptor *s =
        (volatile struct send_descriptor *)(hot->send_cache + hot->send_taken++ % SEND_CACHE * sizeof *s);
    if (!(s->length_flags & SEND_END)) continue;
    hot->skipping = 0;
    hot->count.dropped_send++;
  }
}

/* The next piece of a frame that may be held: frames with checksums to come are, and those behind held ones.  What has
 * more pieces than can be held is not sent.  Returns false when it has to wait. */
INLINE u32 hold_piece(u32 flags, u32 frame_length, u32 length, volatile struct dma_descriptor *d) {
  if (!frame_length) {
    held.flags = flags;
    held.holds = held.first != held.last || flags & (SEND_CHECKSUM | SEND_IP_CHECKSUM);
    held.start_piece = held.last_piece;
  }
  if (!held.holds) return 1;
  u32 piece = held.last_piece;
  if (piece - held.first_piece == HELD) {
    if (held.first == held.last) hot->skipping = 1;
    return 0;
  }
  held.last_piece = piece + 1;
  held_piece[piece % HELD].length = (u16)length;
  d->checksum_to = (u32)&held_piece[piece % HELD].sum;
  return 1;
}

/* The same for its end: how the MAC hears of its data. */
INLINE u32 hold_frame(u32 length, u32 index) {
  if (!held.holds) return DMA_FILLS_SEND_BUFFER;
  held_frame[held.last % HELD] = (struct held_frame){index, hot->frame_start, length, held.flags, held.last_piece};
  held.last++;
  return 0;
}

/* Event: send descriptors lie ready.  `sums` is a constant: checksums may be asked for. */
INLINE void send_frames(u32 sums) {
  if (sums) release_held();
  struct registers *r = registers();
  u32 entry = hot->read_next, room = ring_room(entry, r->dma_read_consumer, DMA_ENTRY, DMA_RING);
  u32 at = hot->send_buffer_next, mac = hot->mac_send_next;
  u32 size = hot->send_buffer_end - hot->send_buffer_base;
  u32 space = r->tx_buffer_consumer - at - 8;
  if ((s32)space < 0) space += size;
  u32 mac_room = ring_room(mac, r->mac_tx_consumer, MAC_ENTRY, MAC_SEND_RING);
  u32 taken = hot->send_taken, ready = hot->send_ready, limit = taken + SEND_BATCH;
  if ((s32)(ready - limit) > 0) ready = limit;
  u32 frame_length = hot->frame_length, frames = 0, bytes = 0;
  u32 countdown = hot->send_countdown, report_at = 0, last = 0;
  u32 index = hot->sent_at[entry % DMA_RING / DMA_ENTRY];
  if (__builtin_expect(hot->skipping, 0)) ready = taken;
  while (taken != ready) {
    /* Two entries are left to fetches of descriptors, which free what this waits for. */
    if (room < 3 * DMA_ENTRY) {
      wait_for_read_room();
      events_disable(SEND_EVENT);
      break;
    }
    volatile struct send_descriptor *s =
        (volatile struct send_descriptor *)(hot->send_cache + taken % SEND_CACHE * sizeof(struct send_descriptor));
    u32 length_flags = s->length_flags, length = length_flags >> 16;
    if (space < length + 8 || !mac_room) {
      /* The MAC frees both; this event stays on until it has.  What can never fit is not sent. */
      if (frame_length + length + 16 > size) hot->skipping = 1;
      break;
    }
    volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
    if (sums && !hold_piece(length_flags, frame_length, length, d)) break;
    u32 high = s->host_high, low = s->host_low;
    d->host_high = high;
    u32 control = hot->data_control, next = ring_next(entry, DMA_ENTRY, DMA_RING);
    if (sums && held.holds) control |= DMA_CHECKSUM;
    MEANWHILE(next);
    d->host_low = low;
    if (!frame_length) hot->frame_start = at;
    frame_length += length;
    MEANWHILE(frame_length);
    d->local = at;
    taken++;
    at += length;
    space -= length;
    MEANWHILE(taken);
    MEANWHILE(at);
    MEANWHILE(space);
    d->length = length;
    if (length_flags & SEND_END) {
      volatile struct mac_descriptor *m = (volatile struct mac_descriptor *)mac;
      control |= sums ? hold_frame(frame_length, taken) : DMA_FILLS_SEND_BUFFER;
      u32 word = hot->frame_start, vlan = 0;
      if (length_flags & SEND_VLAN) {
        word |= MAC_INSERT_VLAN;
        vlan = s->vlan << 16;
      }
      m->buffer = word;
      mac = ring_next(mac, MAC_ENTRY, MAC_SEND_RING);
      MEANWHILE(mac);
      m->status_length = vlan | frame_length;
      mac_room -= MAC_ENTRY;
      space -= -at & 7;
      at = (at + 7) & ~7u;
      bytes += frame_length;
      MEANWHILE(bytes);
      frames++;
      frame_length = 0;
      index = taken;
      last = entry;
      if (!sums) extra_send_work();
      if ((s32)--countdown <= 0 || length_flags & SEND_REPORT_NOW) {
        countdown = hot->max_unsent;
        report_at = entry;
      }
    } else {
      countdown--;
    }
    if (at >= hot->send_buffer_end) at -= size;
    d->control = control;
    hot->sent_at[next % DMA_RING / DMA_ENTRY] = index;
    entry = next;
    room -= DMA_ENTRY;
  }
  hot->send_taken = taken;
  hot->frame_length = frame_length;
  hot->send_buffer_next = at;
  hot->send_countdown = countdown;
  if (entry != hot->read_next) {
    hot->read_next = entry;
    r->dma_read_producer = entry;
  }
  if (frames) {
    hot->mac_send_next = mac;
    r->mac_tx_producer = mac;
    hot->count.frames_out += frames;
    u32 sum = hot->count.bytes_out + bytes;
    hot->count.bytes_out_high += sum < bytes;
    hot->count.bytes_out = sum;
    if (report_at)
      watch_read(report_at, WATCH_SENT);
    else if (hot->send_flags & RING_INDEX_AT_ONCE)
      watch_read(last, WATCH_SENT_QUIET);
    if (last != report_at && hot->sent_ticks && !(hot->deadlines & DEADLINE_SEND))
      start_deadline(DEADLINE_SEND, hot->sent_ticks);
  }
  if (__builtin_expect(hot->skipping, 0)) {
    if (sums && hot->frame_length && held.holds) held.last_piece = held.start_piece;
    skip_frame();
  }
  if (hot->send_taken == hot->send_ready && !(sums && held.first != held.last)) event_clear(SEND_EVENT);
  fetch_send();
}

HOT void send(void) {
  send_frames(0);
}

/* The same for a host that has asked for checksums on its send ring. */
SUMS static void send_with_sums(void) {
  send_frames(1);
}

/* Lets that serve the event, in place of send(): the dispatch table has a jump for each event. */
extern volatile u32 send_entry[];
void choose_send(void) {
  if (!(hot->send_flags & (RING_CHECKSUM | RING_IP_CHECKSUM))) return;
  load_sums();
  *send_entry = jump_to(send_with_sums);
}
