/* Completion of the two DMA rings.  The reference pointers are set ahead, onto the next entry whose completion
 * matters (fetched descriptors, an index that deserves an interrupt), so one event stands for many transfers.
 */
#include "hot.h"

struct hot hot_state __attribute__((section(".hot.bss")));

/* Has the assist passed `entry`, which was queued before `producer`? */
static inline u32 passed(u32 producer, u32 consumer, u32 entry) {
  return ((producer - consumer) & (DMA_RING - 1)) < ((producer - entry) & (DMA_RING - 1));
}

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
  events_enable(RECEIVE_EVENT);
  fetch_receive(ring);
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
    case WATCH_SENT_QUIET: queue_sent_report(0); break;
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

/* Asks for an interrupt (entry | 1) or just for a call when `entry` of the write ring is complete. */
HOT void interrupt_after(u32 entry) {
  if (hot->interrupt_at) {
    hot->interrupt_later = entry;
    return;
  }
  hot->interrupt_at = entry;
  registers()->dma_write_reference = entry & ~1u;
  events_enable(DMA_WRITE_EVENT);
}

/* The write ring has no room for what `events` stand for: they are off until half of it is free. */
HOT void wait_for_write_room(u32 events) {
  events_disable(events);
  hot->blocked |= events;
  if (hot->interrupt_at) return;
  u32 half = hot->write_next - DMA_RING / 2;
  interrupt_after((half & (DMA_RING - 1)) | (hot->write_next & ~(DMA_RING - 1)));
}

/* Interrupts the host, unless it holds interrupts back with mailbox 0: then when it lets go of that. */
HOT void raise_interrupt(void) {
  if (shared_block()->mailbox[MAILBOX_INTERRUPT].low) {
    hot->interrupt_pending = 1;
    return;
  }
  hot->interrupt_pending = 0;
  hot->count.interrupts++;
  registers()->misc_local_ctl = hot->local_control | LOCAL_INTERRUPT;
}

/* Event: the assist has passed the watched entry of the write ring. */
HOT void dma_write_done(void) {
  u32 consumer = registers()->dma_write_consumer, at = hot->interrupt_at, later = hot->interrupt_later;
  u32 interrupt = at & 1;
  hot->interrupt_at = hot->interrupt_later = 0;
  if (later && passed(hot->write_next, consumer, later & ~1u)) {
    interrupt |= later & 1;
    later = 0;
  }
  if (later)
    interrupt_after(later);
  else
    events_disable(DMA_WRITE_EVENT);
  if (interrupt) raise_interrupt();
  events_enable(hot->blocked);
  hot->blocked = 0;
}
