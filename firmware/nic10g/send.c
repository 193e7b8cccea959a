// Task: frames that the host wants sent, whose descriptors are ready.  The MAC is notified of a frame together with the
// transfers that fetch its pieces, and waits by itself until they have come.
#include "state.h"

// Claims the next bundle, if the rings have room for it; the queue's lock is held.
static inline u32 claim(struct send_queue *q, struct event *e) {
  struct registers *r = registers();
  u32 done = r->read_consumer, left = r->mac_tx_consumer, bundle = q->bundles;
  if (bundle == state->send_order.next) return 0;
  u32 step = state->send_order.step[bundle % ORDER_BUNDLES], first = q->claimed, frame = q->frames;
  u32 end = first + (step >> 16), next = frame + (step & 0xffff);
  if (end - done > RING_ROOM || next - left > RING_ROOM) return 0;
  e->first = first;
  e->count = step >> 16;
  e->other = frame;
  e->bundle = bundle;
  q->bundles = bundle + 1;
  q->claimed = end;
  q->frames = next;
  return 1;
}

static inline void work(const struct event *e) {
  u32 at = e->first, end = at + e->count, frame = e->other;
  do {
    u32 start = send_slot(frame), local = start, piece;
    struct dma_descriptor *d;
    for (;;) {
      const struct send_descriptor *s = &state->sends[at % RING];
      d = &READ_RING[at++ % RING];
      u32 host = s->low, length_flags = s->length_flags;
      d->local = local;
      d->host = host;
      piece = length_flags >> 16;
      local += piece;
      if (length_flags & SEND_END) break;
      d->control_length = piece;
    }
    d->control_length = piece | DMA_MOVES_POINTER;
    struct mac_descriptor *m = &MAC_TX_RING[frame++ % RING];
    m->address = start;
    m->status_length = local - start;
  } while (at != end);
}

u32 send_task(void) {
  struct send_queue *q = &state->send;
  struct event e;
  if (q->bundles == state->send_order.next || !try_lock(&q->lock)) return 0;
  u32 claimed = claim(q, &e);
  unlock(&q->lock);
  if (!claimed) return 0;
  work(&e);
  u32 run = order_finish(&state->send_order, e.bundle);
  if (run) {
    struct registers *r = registers();
    r->read_producer_add = run >> 16;
    r->mac_tx_producer_add = run & 0xffff;
  }
  return 1;
}
