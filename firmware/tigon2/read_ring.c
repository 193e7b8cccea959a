/* Completion of the DMA read ring.  The reference pointer is set ahead, onto the next entry whose completion matters
 * (fetched descriptors, the end of what a report covers), so one event stands for many transfers.
 */
#include "hot.h"

/* Asks for `kind` to be done when `entry`, just queued, is complete. */
HOT void watch_read(u32 entry, u32 kind) {
  u32 tail = hot->watch_tail;
  hot->watch[tail % 64] = entry | kind;
  hot->watch_tail = tail + 1;
  if (tail == hot->watch_head) {
    registers()->dma_read_reference = entry;
    events_enable(DMA_READ_EVENT);
  }
}

/* The read ring is full: its users are called again when the next watched entry is complete. */
HOT void wait_for_read_room(void) {
  hot->read_waiting = 1;
  if (hot->watch_head != hot->watch_tail) return;
  u32 half = hot->read_next - DMA_RING / 2;
  watch_read((half & (DMA_RING - 1)) | (hot->read_next & ~(DMA_RING - 1)), WATCH_ROOM);
}

/* Fetched descriptors have arrived. */
static inline void fetched(struct receive_ring *ring) {
  ring->ready = ring->asked;
  buffers_ready(ring);
  fetch_receive(ring);
}

/* Send index up to which everything has been transferred. */
HOT u32 sent_index(void) {
  return hot->sent_at[registers()->dma_read_consumer % DMA_RING / DMA_ENTRY];
}

/* Event: the assist has passed the oldest watched entry of the read ring. */
HOT void dma_read_done(void) {
  struct registers *r = registers();
  u32 consumer = r->dma_read_consumer;
  do {
    u32 head = hot->watch_head;
    u32 watched = hot->watch[head % 64], entry = watched & ~(DMA_ENTRY - 1);
    if (!passed(hot->read_next, consumer, entry)) {
      r->dma_read_reference = entry;
      break;
    }
    hot->watch_head = head + 1;
    switch (watched % DMA_ENTRY) {
    case WATCH_SEND:
      hot->send_ready = hot->send_asked;
      hot->send_fetching = 0;
      event_set(SEND_EVENT);
      fetch_send();
      break;
    case WATCH_SENT: report_sent(); break;
    case WATCH_SENT_QUIET: tell_sent(sent_index(), 0); break;
    case WATCH_STANDARD: fetched(&hot->standard); break;
    case WATCH_JUMBO: fetched(&hot->jumbo); break;
    case WATCH_MINI: fetched(&hot->mini); break;
    }
  } while (hot->watch_head != hot->watch_tail);
  if (__builtin_expect(hot->read_waiting, 0)) {
    hot->read_waiting = 0;
    fetch_receive(&hot->standard);
    fetch_receive(&hot->jumbo);
    fetch_receive(&hot->mini);
    fetch_send();
    events_enable(SEND_EVENT);
  }
  if (hot->watch_head == hot->watch_tail) events_disable(DMA_READ_EVENT);
}
