// What ends every bundle that goes to the host: its status block, and passing it on.  And the task that reports to
// the host what has been sent when no received frame does, and interrupts it when that is due.
#include "state.h"

// The status block, from a place of the bundle's own, as the last entry of the bundle.
void write_status(u32 entry, u32 bundle, u32 returned, u32 sent) {
  struct status *s = &state->status[bundle % ORDER_BUNDLES];
  struct dma_descriptor *d = &WRITE_RING[entry % RING];
  s->return_producer = returned;
  s->send_consumer = sent;
  s->state = STATE_UP;
  s->failures = state->write.failures;
  d->host = setup()->status_block;
  d->local = (u32)s;
  d->control_length = sizeof *s;
}

void write_finish(u32 bundle) {
  u32 run = order_finish(&state->write_order, bundle);
  if (!run) return;
  struct registers *r = registers();
  r->write_producer_add = run >> 16;
  r->mac_rx_reference_add = run & 0xffff;
}

// Interrupts the host when what it shall find is there.
static inline void interrupt(struct write_queue *q, struct registers *r) {
  if ((s32)(r->write_consumer - q->interrupt_after) < 0 || !try_lock(&q->lock)) return;
  if (q->interrupting && (s32)(r->write_consumer - q->interrupt_after) >= 0) {
    q->interrupting = 0;
    r->interrupt = 1;
  }
  unlock(&q->lock);
}

// A transfer failed on the host's bus.  The assist repeats it when its error bits are cleared.
static void clear_failure(struct write_queue *q, volatile u32 *dma_state) {
  if (!(*dma_state & DMA_ERRORS) || !try_lock(&q->lock)) return;
  if (*dma_state & DMA_ERRORS) {
    q->failures++;
    *dma_state = 0;
  }
  unlock(&q->lock);
}

u32 report_task(void) {
  struct write_queue *q = &state->write;
  struct registers *r = registers();
  if (q->interrupting) interrupt(q, r);
  clear_failure(q, &r->dma_read_state);
  clear_failure(q, &r->dma_write_state);
  u32 sent = r->read_consumer;
  if (sent == q->sent) return 0;
  u32 now = r->timer;
  if (sent - q->sent < setup()->send_most && now - q->reported_at < setup()->send_ticks) return 0;
  if (!try_lock(&q->lock)) return 0;
  sent = r->read_consumer;
  u32 entry = q->entries, more = sent - q->sent;
  if (!more || (more < setup()->send_most && now - q->reported_at < setup()->send_ticks) ||
      entry - r->write_consumer >= RING_ROOM) {
    unlock(&q->lock);
    return 0;
  }
  q->sent = sent;
  q->reported_at = now;
  q->entries = entry + 1;
  u32 returned = q->claimed, bundle = order_enter(&state->write_order, 1, 0);
  if (!q->interrupting) {
    q->interrupt_after = entry + 1;
    q->interrupting = 1;
    q->unreported = 0;
  }
  unlock(&q->lock);
  write_status(entry, bundle, returned, sent);
  write_finish(bundle);
  return 1;
}
