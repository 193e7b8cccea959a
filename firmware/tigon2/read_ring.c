// Completion of the DMA read ring.  The reference pointer is set ahead, onto the next entry whose completion matters
// (fetched descriptors, the end of what a report covers), so one event covers many transfers.
#include "state.h"

// Asks for `kind` to be done when `entry`, just queued, is complete.
SCRATCHPAD_CODE void watch_read(u32 entry, u32 kind) {
  u32 tail = state->watch_tail;
  state->watch[tail % 64] = entry | kind;
  state->watch_tail = tail + 1;
  if (tail == state->watch_head) {
    registers()->dma_read_reference = entry;
    events_enable(DMA_READ_EVENT);
  }
}

// The read ring is full: its users are called again when the next watched entry is complete.
SCRATCHPAD_CODE void wait_for_read_room(void) {
  state->read_waiting = 1;
  if (state->watch_head != state->watch_tail) return;
  u32 half = state->read_next - DMA_RING / 2;
  watch_read((half & (DMA_RING - 1)) | (state->read_next & ~(DMA_RING - 1)), WATCH_ROOM);
}

// Fetched descriptors have arrived.
static inline void fetched(struct receive_ring *ring) {
  ring->ready = ring->requested;
  buffers_ready(ring);
  fetch_receive(ring);
}

// Send index up to which everything has been transferred.
SCRATCHPAD_CODE u32 sent_index(void) {
  return state->sent_at[registers()->dma_read_consumer % DMA_RING / DMA_ENTRY];
}

// Event: the assist has passed the oldest watched entry of the read ring.
SCRATCHPAD_CODE void dma_read_done(void) {
  struct registers *r = registers();
  u32 consumer = r->dma_read_consumer;
  do {
    u32 head = state->watch_head;
    u32 watch = state->watch[head % 64], entry = watch & ~(DMA_ENTRY - 1);
    if (!passed(state->read_next, consumer, entry)) {
      r->dma_read_reference = entry;
      break;
    }
    state->watch_head = head + 1;
    switch (watch % DMA_ENTRY) {
    case WATCH_SEND:
      state->send_ready = state->send_requested;
      state->send_fetching = 0;
      event_set(SEND_EVENT);
      fetch_send();
      break;
    case WATCH_SENT: report_sent(); break;
    case WATCH_SENT_QUIET: notify_sent(sent_index(), 0); break;
    case WATCH_STANDARD: fetched(&state->standard); break;
    case WATCH_JUMBO: fetched(&state->jumbo); break;
    case WATCH_MINI: fetched(&state->mini); break;
    case WATCH_EXTENSION: extension_read_done(); break;
    }
  } while (state->watch_head != state->watch_tail);
  if (__builtin_expect(state->read_waiting, 0)) {
    state->read_waiting = 0;
    fetch_receive(&state->standard);
    fetch_receive(&state->jumbo);
    fetch_receive(&state->mini);
    fetch_send();
    events_enable(SEND_EVENT);
  }
  if (state->watch_head == state->watch_tail) events_disable(DMA_READ_EVENT);
}
