// Task: frames that the MAC has received.  Each gets a buffer of the host.  Data, return entries and the status block
// that reports them go through one DMA ring in order, so nothing is waited for.
#include "state.h"

// Claims frames; the queue's lock is held.
static inline u32 claim(struct write_queue *q, struct event *e) {
  struct registers *r = registers();
  u32 arrived = r->mac_rx_producer, done = r->write_consumer, sent = r->read_consumer;
  u32 first = q->claimed, entry = q->entries, most = state->bundle;
  u32 count = arrived - first, buffers = state->fetch.receive_ready - first, room = RING_ROOM - 2 - (entry - done);
  most -= first & (most - 1);
  if (count > most) count = most;
  if (count > buffers) count = buffers;
  if (!count || (s32)room < (s32)count) return 0;
  e->first = first;
  e->count = count;
  e->other = entry;
  e->sent = q->sent = sent;
  r->mac_rx_claim_add = count;
  q->claimed = first + count;
  q->entries = entry += count + 2;
  e->bundle = order_enter(&state->write_order, count + 2, count);
  u32 unreported = q->unreported + count;
  if (unreported >= setup()->receive_most && !q->interrupting) {
    q->interrupt_after = entry;
    q->interrupting = 1;
    unreported = 0;
  }
  q->unreported = unreported;
  return count;
}

static inline void work(const struct event *e) {
  u32 first = e->first, count = e->count, entry = e->other;
  const struct mac_descriptor *m = &MAC_RX_RING[first % RING];
  const struct receive_descriptor *b = &state->buffers[first % RING];
  struct return_entry *t = &state->returns[first % RING], *returns = t;
  for (const struct mac_descriptor *end = m + count; m != end; m++, b++, t++) {
    struct dma_descriptor *d = &WRITE_RING[entry++ % RING];
    u32 local = m->address, status_length = m->status_length, host = b->low, opaque = b->opaque;
    d->local = local;
    d->control_length = DMA_MOVES_POINTER | (status_length & 0xffff);
    d->host = host;
    t->status_length = status_length;
    t->opaque = opaque;
  }
  struct dma_descriptor *d = &WRITE_RING[entry++ % RING];
  d->host = setup()->return_ring + (first & (setup()->return_entries - 1)) * sizeof *t;
  d->local = (u32)returns;
  d->control_length = count * sizeof *t;
  write_status(entry, e->bundle, first + count, e->sent);
}

u32 receive_task(void) {
  struct write_queue *q = &state->write;
  struct event e;
  if (!try_lock(&q->lock)) return 0;
  u32 count = claim(q, &e);
  unlock(&q->lock);
  if (!count) return 0;
  work(&e);
  write_finish(e.bundle);
  return 1;
}
