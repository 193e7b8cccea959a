// Indices that notify the host how far its rings were used: they go through the DMA write ring, behind what they
// count, and bring an interrupt when one is due.
#include "state.h"

// Queues the index up to which the host finds frames in the return ring, and an interrupt if that is due.  There must
// be room for it.
SCRATCHPAD_CODE void queue_received_report(u32 due) {
  u32 entry = state->write_next, next = ring_next(entry, DMA_ENTRY, DMA_RING);
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->host_high = state->return_producer.high;
  d->host_low = state->return_producer.low;
  d->own[1] = state->returned;
  d->local = (u32)&d->own[1];
  d->length = sizeof d->own[1];
  d->control = state->descriptor_control;
  state->write_next = next;
  registers()->dma_write_producer = next;
  if (!due) return;
  state->unreported = 0;
  state->deadlines &= ~DEADLINE_RECEIVE;
  if (!(shared_block()->mode & MODE_NO_RECEIVE_INTERRUPT)) interrupt_after(entry | 1);
}

// Event: the deadline for notifying the host about received frames has come.
SCRATCHPAD_CODE void report_received(void) {
  if (!ring_room(state->write_next, registers()->dma_write_consumer, DMA_ENTRY, DMA_RING)) {
    wait_for_write_room(REPORT_RECEIVED_EVENT);
    return;
  }
  event_clear(REPORT_RECEIVED_EVENT);
  state->deadlines &= ~DEADLINE_RECEIVE;
  if (state->unreported) queue_received_report(1);
}

// Queues the index up to which the host's buffers are free again, and an interrupt if that is due.  Without room for it
// the event stays on until there is some.
SCRATCHPAD_CODE void queue_sent_report(u32 index, u32 due) {
  struct registers *r = registers();
  u32 entry = state->write_next, next = ring_next(entry, DMA_ENTRY, DMA_RING);
  if (!ring_room(entry, r->dma_write_consumer, DMA_ENTRY, DMA_RING)) {
    event_set(REPORT_SENT_EVENT);
    wait_for_write_room(REPORT_SENT_EVENT);
    return;
  }
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->host_high = state->send_consumer.high;
  d->host_low = state->send_consumer.low;
  d->own[1] = index & state->sends_mask;
  d->local = (u32)&d->own[1];
  d->length = sizeof d->own[1];
  d->control = state->descriptor_control;
  state->write_next = next;
  r->dma_write_producer = next;
  if (due && !(shared_block()->mode & MODE_NO_SEND_INTERRUPT)) interrupt_after(entry | 1);
}
