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
  u32 ring = hot->held.mask ? hot->held.ring : hot->send_cache;
  u32 mask = hot->held.mask ? hot->held.mask : SEND_CACHE * sizeof(struct send_descriptor) - 1;
  while (hot->skipping && hot->send_taken != hot->send_ready) {
    volatile struct send_descriptor *s =
        (volatile struct send_descriptor *)(ring + (hot->send_taken++ * sizeof *s & mask));
    if (!(s->length_flags & SEND_END)) continue;
    hot->skipping = 0;
    hot->count.dropped_send++;
  }
}

/* Event: send descriptors lie ready.  `general` is a constant: checksums may be asked for, and the ring may lie in NIC
 * memory. */
INLINE void send_frames(u32 general) {
  struct registers *r = registers();
  u32 entry = hot->read_next, consumer = general ? release_held(r) : r->dma_read_consumer;
  u32 room = ring_room(entry, consumer, DMA_ENTRY, DMA_RING);
  if (general && hot->send_taken == hot->send_ready && !hot->skipping) {
    if (hot->held.first == hot->held.last) event_clear(SEND_EVENT);
    return;
  }
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
  if (general && hot->held.piece && (s32)(ready - hot->held.first - HELD) > 0) {
    ready = hot->held.first + HELD;
    /* What has more pieces than can be held is not sent. */
    if (ready == taken && hot->held.first == hot->held.last) hot->skipping = 1;
  }
  if (__builtin_expect(hot->skipping, 0)) ready = taken;
  while (taken != ready) {
    /* Two entries are left to fetches of descriptors, which free what this waits for. */
    if (room < 3 * DMA_ENTRY) {
      wait_for_read_room();
      events_disable(SEND_EVENT);
      break;
    }
    u32 from = general ? hot->held.ring + (taken * sizeof(struct send_descriptor) & hot->held.mask)
                       : hot->send_cache + taken % SEND_CACHE * sizeof(struct send_descriptor);
    volatile struct send_descriptor *s = (volatile struct send_descriptor *)from;
    u32 length_flags = s->length_flags, length = length_flags >> 16;
    if (space < length + 8 || !mac_room) {
      /* The MAC frees both; this event stays on until it has.  What can never fit is not sent. */
      if (frame_length + length + 16 > size) hot->skipping = 1;
      break;
    }
    volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
    u32 high = s->host_high, low = s->host_low;
    d->host_high = high;
    u32 control = hot->data_control, next = ring_next(entry, DMA_ENTRY, DMA_RING);
    if (general) control |= hot->held.piece;
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
    if (general && hot->held.piece) {
      u32 index = taken - 1;
      held_piece[index % HELD] = length_flags;
      d->checksum_to = (u32)&held_sum[index % HELD].sum;
    }
    if (length_flags & SEND_END) {
      volatile struct mac_descriptor *m = (volatile struct mac_descriptor *)mac;
      control |= general ? hot->held.end : DMA_FILLS_SEND_BUFFER;
      if (general) hot->held.last = taken;
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
      if (!general) extra_send_work();
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
    /* Where held frames begin is known as long as nothing between them is passed over. */
    if (general && hot->held.first != hot->held.last) return;
    skip_frame();
    if (general) hot->held.first = hot->held.last = hot->send_taken;
  }
  if (hot->send_taken == hot->send_ready && !(general && hot->held.first != hot->held.last)) event_clear(SEND_EVENT);
  fetch_send();
}

HOT void send(void) {
  send_frames(0);
}

/* The same for a host that has asked for checksums on its send ring, or for that ring in NIC memory. */
SUMS __attribute__((minsize)) static void send_generally(void) {
  send_frames(1);
}

/* Lets that serve the event, in place of send(): the dispatch table has a jump for each event. */
extern u32 send_entry[], mailbox_entry[], send_sums_load[], send_sums_start[], send_sums_end[];
void choose_send(void) {
  u32 sums = hot->send_flags & (RING_CHECKSUM | RING_IP_CHECKSUM), on_host = hot->send_flags & RING_ON_HOST;
  if (!sums && on_host) return;
  load_code(send_sums_load, send_sums_start, send_sums_end);
  hot->held = (struct held){
      .start = hot->send_buffer_base,
      .piece = sums ? DMA_OWN_CHECKSUM : 0,
      .end = sums ? 0 : DMA_FILLS_SEND_BUFFER,
      .ring = on_host ? hot->send_cache : hot->sends.low,
      .mask = (on_host ? SEND_CACHE : hot->sends_mask + 1) * sizeof(struct send_descriptor) - 1,
  };
  *(volatile u32 *)send_entry = jump_to(send_generally);
  if (!on_host) *(volatile u32 *)mailbox_entry = jump_to(mailbox_of_nic_ring);
}
