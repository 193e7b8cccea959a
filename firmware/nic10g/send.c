/* Task: frames that the host wants sent, whose descriptors lie ready.  The MAC is told of a frame together with the
 * transfers that fetch its pieces, and waits by itself until they have come.
 */
#include "state.h"

/* Claims frames; the queue's lock is held.  Looks only for where they end. */
static inline u32 claim(struct send_queue *q, struct event *e) {
  struct registers *r = registers();
  u32 done = r->read_consumer, left = r->mac_tx_consumer, most = state->bundle;
  u32 first = q->claimed, frame = q->frames, pieces = state->fetch.send_ready - first;
  u32 room = RING_ROOM - (first - done), frames = RING_ROOM - (frame - left);
  if (pieces > room) pieces = room;
  if (frames > most) frames = most;
  u32 at = first, end = first, last = first + pieces, next = frame, limit = frame + frames;
  while (at != last && next != limit) {
    u32 length_flags = state->sends[at++ % RING].length_flags;
    if (!(length_flags & SEND_END)) continue;
    end = at;
    next++;
    if (at - first >= SEND_PIECES) break;
  }
  if (end == first) return 0;
  e->first = first;
  e->count = end - first;
  e->other = frame;
  q->claimed = end;
  q->frames = next;
  e->bundle = order_enter(&state->send_order, end - first, next - frame);
  return 1;
}

static inline void work(const struct event *e) {
  u32 at = e->first, end = at + e->count, frame = e->other;
  u32 start = send_slot(frame), length = 0;
  for (; at != end; at++) {
    const struct send_descriptor *s = &state->sends[at % RING];
    struct dma_descriptor *d = &READ_RING[at % RING];
    u32 host = s->low, length_flags = s->length_flags, piece = length_flags >> 16;
    d->host = host;
    d->local = start + length;
    length += piece;
    if (length_flags & SEND_END) {
      struct mac_descriptor *m = &MAC_TX_RING[frame++ % RING];
      m->address = start;
      m->status_length = length;
      start = send_slot(frame);
      length = 0;
      piece |= DMA_MOVES_POINTER;
    }
    d->control_length = piece;
  }
}

u32 send_task(void) {
  struct send_queue *q = &state->send;
  struct event e;
  if (q->claimed == state->fetch.send_ready || !try_lock(&q->lock)) return 0;
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
