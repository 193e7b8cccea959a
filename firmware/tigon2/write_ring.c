// Completion of the DMA write ring.  The reference pointer is set ahead, onto an index that deserves an interrupt, so
// one event covers many transfers.
#include "state.h"

// Asks for an interrupt (entry | 1) or just for a call when `entry` of the write ring is complete.
SCRATCHPAD_CODE void interrupt_after(u32 entry) {
  if (state->interrupt_at) {
    state->interrupt_later = entry;
    return;
  }
  state->interrupt_at = entry;
  registers()->dma_write_reference = entry & ~1u;
  events_enable(DMA_WRITE_EVENT);
}

// The write ring has no room for what `events` would queue: they are off until half of it is free.
SCRATCHPAD_CODE void wait_for_write_room(u32 events) {
  events_disable(events);
  state->blocked |= events;
  if (state->interrupt_at) return;
  u32 half = state->write_next - DMA_RING / 2;
  interrupt_after((half & (DMA_RING - 1)) | (state->write_next & ~(DMA_RING - 1)));
}

// Interrupts the host, unless it holds interrupts back with mailbox 0: then when it lets go of that.
SCRATCHPAD_CODE void raise_interrupt(void) {
  if (shared_block()->mailbox[MAILBOX_INTERRUPT].low) {
    state->interrupt_pending = 1;
    return;
  }
  state->interrupt_pending = 0;
  state->count.interrupts++;
  registers()->misc_local_ctl = state->local_control | LOCAL_INTERRUPT;
}

// Event: the assist has passed the watched entry of the write ring.
SCRATCHPAD_CODE void dma_write_done(void) {
  u32 consumer = registers()->dma_write_consumer, at = state->interrupt_at, later = state->interrupt_later;
  u32 interrupt = at & 1;
  state->interrupt_at = state->interrupt_later = 0;
  if (later && passed(state->write_next, consumer, later & ~1u)) {
    interrupt |= later & 1;
    later = 0;
  }
  if (later)
    interrupt_after(later);
  else
    events_disable(DMA_WRITE_EVENT);
  if (interrupt) raise_interrupt();
  events_enable(state->blocked);
  state->blocked = 0;
}
