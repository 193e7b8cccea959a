/* Indices that tell the host how far its rings were used: they go through the DMA write ring, behind what they
 * announce, and bring an interrupt when one is due.
 */
#include "hot.h"

/* Queues the index up to which the host finds frames in the return ring, and an interrupt if that is due.  There must
 * be room for it. */
HOT void queue_received_report(u32 due) {
  u32 entry = hot->write_next, next = ring_next(entry, DMA_ENTRY, DMA_RING);
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->host_high = hot->return_producer.high;
  d->host_low = hot->return_producer.low;
  d->own[1] = hot->returned;
  d->local = (u32)&d->own[1];
  d->length = sizeof d->own[1];
  d->control = hot->descriptor_control;
  hot->write_next = next;
  registers()->dma_write_producer = next;
  if (!due) return;
  hot->unreported = 0;
  hot->deadlines &= ~DEADLINE_RECEIVE;
  if (!(shared_block()->mode & MODE_NO_RECEIVE_INTERRUPT)) interrupt_after(entry | 1);
}

/* Event: the deadline for telling the host about received frames has come. */
HOT void report_received(void) {
  if (!ring_room(hot->write_next, registers()->dma_write_consumer, DMA_ENTRY, DMA_RING)) {
    wait_for_write_room(REPORT_RECEIVED_EVENT);
    return;
  }
  event_clear(REPORT_RECEIVED_EVENT);
  hot->deadlines &= ~DEADLINE_RECEIVE;
  if (hot->unreported) queue_received_report(1);
}

/* Queues the index up to which the host's buffers are free again, and an interrupt if that is due.  Without room for it
 * the event stays on until there is some. */
HOT void queue_sent_report(u32 index, u32 due) {
  struct registers *r = registers();
  u32 entry = hot->write_next, next = ring_next(entry, DMA_ENTRY, DMA_RING);
  if (!ring_room(entry, r->dma_write_consumer, DMA_ENTRY, DMA_RING)) {
    event_set(REPORT_SENT_EVENT);
    wait_for_write_room(REPORT_SENT_EVENT);
    return;
  }
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  d->host_high = hot->send_consumer.high;
  d->host_low = hot->send_consumer.low;
  d->own[1] = index & hot->sends_mask;
  d->local = (u32)&d->own[1];
  d->length = sizeof d->own[1];
  d->control = hot->descriptor_control;
  hot->write_next = next;
  r->dma_write_producer = next;
  if (due && !(shared_block()->mode & MODE_NO_SEND_INTERRUPT)) interrupt_after(entry | 1);
}
