// The way of a frame from the host to the MAC: its descriptors are fetched many at a time, each piece is transferred
// into the send buffer, and the MAC is notified of the frame before its data arrive.  The MAC waits for them by itself,
// so a frame costs no completion; the host gets its buffers back by an index, by count or by time.
#include "checksums.h"

// Event, or count reached: notifies the host of what has been sent.
SCRATCHPAD_CODE void report_sent(void) {
  event_clear(REPORT_SENT_EVENT);
  state->deadlines &= ~DEADLINE_SEND;
  u32 sent = sent_index();
  notify_sent(sent, 1);
  // What is still being transferred has its own report to come.
  if (state->sent_ticks && sent != state->sent_at[state->read_next % DMA_RING / DMA_ENTRY])
    start_deadline(DEADLINE_SEND, state->sent_ticks);
}

// Passes over the rest of a frame that is longer than the whole send buffer.  The MAC is never notified of its
// beginning.
static void skip_frame(void) {
  if (state->frame_length) state->send_buffer_next = state->frame_start;
  state->frame_length = 0;
  u32 ring = state->held.mask ? state->held.ring : state->send_cache;
  u32 mask = state->held.mask ? state->held.mask : SEND_CACHE * sizeof(struct send_descriptor) - 1;
  while (state->skipping && state->send_taken != state->send_ready) {
    volatile struct send_descriptor *s =
        (volatile struct send_descriptor *)(ring + (state->send_taken++ * sizeof *s & mask));
    if (!(s->length_flags & SEND_END)) continue;
    state->skipping = 0;
    state->count.dropped_send++;
  }
}

// One run over the send descriptors that are ready, all of it in registers of the processor.  The functions below are
// its steps; `general` is a constant for each: checksums may be asked for, and the ring may be in NIC memory.
struct send_run {
  u32 entry, room;     // DMA read ring: the next entry, and bytes of free ones
  u32 mac, mac_room;   // the MAC's ring likewise
  u32 at, size, space; // send buffer: where the next piece goes, its bytes, and the free ones
  u32 taken, ready;    // send indices
  u32 frame_length;    // as far as it is queued, of the frame whose last piece is not
  u32 frames, bytes;   // queued in this run, whole frames only
  u32 countdown;       // descriptors until the host is notified
  u32 report_at, last; // entries: after which the host is notified, or 0; and with a frame's last piece
  u32 index;           // send index that is complete with the entry
};

INLINE void begin_send_run(struct registers *r, struct send_run *run) {
  run->at = state->send_buffer_next;
  run->mac = state->mac_send_next;
  run->size = state->send_buffer_end - state->send_buffer_base;
  run->space = r->tx_buffer_consumer - run->at - 8;
  if ((s32)run->space < 0) run->space += run->size;
  run->mac_room = ring_room(run->mac, r->mac_tx_consumer, MAC_ENTRY, MAC_SEND_RING);
  u32 limit = state->send_taken + SEND_BATCH;
  run->taken = state->send_taken;
  run->ready = state->send_ready;
  if ((s32)(run->ready - limit) > 0) run->ready = limit;
  run->frame_length = state->frame_length;
  run->frames = run->bytes = 0;
  run->countdown = state->send_countdown;
  run->report_at = run->last = 0;
  run->index = state->sent_at[run->entry % DMA_RING / DMA_ENTRY];
}

// Ends the run before more pieces than can be held.
INLINE void limit_to_held(struct send_run *run) {
  if (!state->held.piece || (s32)(run->ready - state->held.first - HELD) <= 0) return;
  run->ready = state->held.first + HELD;
  // What has more pieces than that is not sent.
  if (run->ready == run->taken && state->held.first == state->held.last) state->skipping = 1;
}

// Tells the MAC of the frame that ends with this piece, and counts it.  Returns the piece's control bits.
INLINE u32 end_frame(struct send_run *run, volatile struct send_descriptor *s, u32 length_flags, u32 general) {
  volatile struct mac_descriptor *m = (volatile struct mac_descriptor *)run->mac;
  u32 control = general ? state->held.end : DMA_FILLS_SEND_BUFFER;
  if (general) state->held.last = run->taken;
  u32 word = state->frame_start, vlan = 0;
  if (length_flags & SEND_VLAN) {
    word |= MAC_INSERT_VLAN;
    vlan = s->vlan << 16;
  }
  m->buffer = word;
  run->mac = ring_next(run->mac, MAC_ENTRY, MAC_SEND_RING);
  MEANWHILE(run->mac);
  run->space -= -run->at & 7;
  MEANWHILE(run->space);
  run->at = (run->at + 7) & ~7u;
  MEANWHILE(run->at);
  run->bytes += run->frame_length;
  MEANWHILE(run->bytes);
  m->status_length = vlan | run->frame_length;
  run->mac_room -= MAC_ENTRY;
  run->frames++;
  run->frame_length = 0;
  run->index = run->taken;
  run->last = run->entry;
  if (!general) extra_send_work();
  if ((s32)--run->countdown <= 0 || length_flags & SEND_REPORT_NOW) {
    run->countdown = state->max_unsent;
    run->report_at = run->entry;
  }
  return control;
}

// Queues the transfer of one piece into the send buffer.
INLINE void queue_piece(struct send_run *run, volatile struct send_descriptor *s, u32 length_flags, u32 general) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)run->entry;
  u32 high = s->host_high, low = s->host_low, length = length_flags >> 16;
  d->host_high = high;
  u32 control = state->data_control, next = ring_next(run->entry, DMA_ENTRY, DMA_RING);
  if (general) control |= state->held.piece;
  MEANWHILE(next);
  d->host_low = low;
  if (!run->frame_length) state->frame_start = run->at;
  run->frame_length += length;
  MEANWHILE(run->frame_length);
  d->local = run->at;
  run->taken++;
  run->at += length;
  run->space -= length;
  MEANWHILE(run->taken);
  MEANWHILE(run->at);
  MEANWHILE(run->space);
  d->length = length;
  if (general && state->held.piece) {
    u32 index = run->taken - 1;
    held_piece[index % HELD] = length_flags;
    d->checksum_to = (u32)&held_sum[index % HELD].sum;
  }
  if (length_flags & SEND_END)
    control |= end_frame(run, s, length_flags, general);
  else
    run->countdown--;
  if (run->at >= state->send_buffer_end) run->at -= run->size;
  d->control = control;
  state->sent_at[next % DMA_RING / DMA_ENTRY] = run->index;
  run->entry = next;
  run->room -= DMA_ENTRY;
}

// Queues what is ready, as long as there is room for it.
INLINE void queue_pieces(struct send_run *run, u32 general) {
  while (run->taken != run->ready) {
    // Two entries are left to fetches of descriptors, which free what this waits for.
    if (run->room < 3 * DMA_ENTRY) {
      wait_for_read_room();
      events_disable(SEND_EVENT);
      break;
    }
    u32 from = general ? state->held.ring + (run->taken * sizeof(struct send_descriptor) & state->held.mask)
                       : state->send_cache + run->taken % SEND_CACHE * sizeof(struct send_descriptor);
    volatile struct send_descriptor *s = (volatile struct send_descriptor *)from;
    u32 length_flags = s->length_flags, length = length_flags >> 16;
    if (run->space < length + 8 || !run->mac_room) {
      // The MAC frees both; this event stays on until it has.  What can never fit is not sent.
      if (run->frame_length + length + 16 > run->size) state->skipping = 1;
      break;
    }
    queue_piece(run, s, length_flags, general);
  }
}

// Notifies the assist and the MAC of what was queued, and sees to it that the host is notified.
INLINE void end_send_run(struct registers *r, const struct send_run *run) {
  state->send_taken = run->taken;
  state->frame_length = run->frame_length;
  state->send_buffer_next = run->at;
  state->send_countdown = run->countdown;
  if (run->entry != state->read_next) {
    state->read_next = run->entry;
    r->dma_read_producer = run->entry;
  }
  if (!run->frames) return;
  state->mac_send_next = run->mac;
  r->mac_tx_producer = run->mac;
  state->count.frames_out += run->frames;
  u32 sum = state->count.bytes_out + run->bytes;
  state->count.bytes_out_high += sum < run->bytes;
  state->count.bytes_out = sum;
  if (run->report_at)
    watch_read(run->report_at, WATCH_SENT);
  else if (state->send_flags & RING_INDEX_AT_ONCE)
    watch_read(run->last, WATCH_SENT_QUIET);
  if (run->last != run->report_at && state->sent_ticks && !(state->deadlines & DEADLINE_SEND))
    start_deadline(DEADLINE_SEND, state->sent_ticks);
}

// Event: send descriptors are ready.
INLINE void send_frames(u32 general) {
  if (extension_sends()) return;
  struct registers *r = registers();
  struct send_run run;
  u32 consumer;
  run.entry = state->read_next;
  consumer = general ? release_held(r) : r->dma_read_consumer;
  run.room = ring_room(run.entry, consumer, DMA_ENTRY, DMA_RING);
  if (general && state->send_taken == state->send_ready && !state->skipping) {
    if (state->held.first == state->held.last) event_clear(SEND_EVENT);
    return;
  }
  begin_send_run(r, &run);
  if (general) limit_to_held(&run);
  if (__builtin_expect(state->skipping, 0)) run.ready = run.taken;
  queue_pieces(&run, general);
  end_send_run(r, &run);
  if (__builtin_expect(state->skipping, 0)) {
    // Where held frames begin is known as long as nothing between them is passed over.
    if (general && state->held.first != state->held.last) return;
    skip_frame();
    if (general) state->held.first = state->held.last = state->send_taken;
  }
  if (state->send_taken == state->send_ready && !(general && state->held.first != state->held.last))
    event_clear(SEND_EVENT);
  fetch_send();
}

SCRATCHPAD_CODE void send(void) {
  send_frames(0);
}

// The same for a host that has asked for checksums on its send ring, or for that ring in NIC memory.
CHECKSUMS __attribute__((minsize)) static void send_generally(void) {
  send_frames(1);
}

// Lets that serve the event, in place of send(): the dispatch table has a jump for each event.
extern u32 send_entry[], mailbox_entry[], send_checksums_load[], send_checksums_start[], send_checksums_end[];
void choose_send(void) {
  u32 checksums = state->send_flags & (RING_CHECKSUM | RING_IP_CHECKSUM), on_host = state->send_flags & RING_ON_HOST;
  if (!checksums && on_host) return;
  load_code(send_checksums_load, send_checksums_start, send_checksums_end);
  state->held = (struct held){
      .start = state->send_buffer_base,
      .piece = checksums ? DMA_OWN_CHECKSUM : 0,
      .end = checksums ? 0 : DMA_FILLS_SEND_BUFFER,
      .ring = on_host ? state->send_cache : state->sends.low,
      .mask = (on_host ? SEND_CACHE : state->sends_mask + 1) * sizeof(struct send_descriptor) - 1,
  };
  *(volatile u32 *)send_entry = jump_to(send_generally);
  if (!on_host) *(volatile u32 *)mailbox_entry = jump_to(mailbox_of_nic_ring);
}
