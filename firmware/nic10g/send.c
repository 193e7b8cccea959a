/* Task: frames that the host wants sent, whose descriptors lie ready.  The MAC is told of a frame together with the
 * transfers that fetch its pieces, and waits by itself until they have come.
 */
#include "state.h"

/* Descriptors of the frame that begins at `at`, of which `left` lie ready; 0 when it is not there as a whole. */
static inline u32 pieces_of_frame(u32 at, u32 left) {
  for (u32 last = at + left, first = at; at != last;)
    if (state->sends[at++ % RING].length_flags & SEND_END) return at - first;
  return 0;
}

/* Claims frames; the queue's lock is held.  Looks only for where they end. */
static inline u32 claim(struct send_queue *q, struct event *e) {
  struct registers *r = registers();
  u32 done = r->read_consumer, left = r->mac_tx_consumer, frames = state->bundle;
  u32 first = q->claimed, frame = q->frames, pieces = state->fetch.send_ready - first;
  u32 room = RING_ROOM - (first - done), frame_room = RING_ROOM - (frame - left);
  if (pieces > room) pieces = room;
  if (frames > frame_room) frames = frame_room;
  u32 end = first, next = frame, last = first + pieces, limit = frame + frames, more;
  while (next != limit && end - first < SEND_PIECES && (more = pieces_of_frame(end, last - end))) {
    end += more;
    next++;
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
