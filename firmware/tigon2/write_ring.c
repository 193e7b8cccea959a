/* Completion of the DMA write ring.  The reference pointer is set ahead, onto an index that deserves an interrupt, so
 * one event stands for many transfers.
 */
#include "hot.h"

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
