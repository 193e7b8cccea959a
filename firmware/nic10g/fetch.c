// Task: the host's buffer descriptors, of frames to send and of buffers for received frames.  They are fetched ahead
// through a DMA ring of their own, which comes first at the bus.
#include "state.h"

enum { SENDS, BUFFERS }; // in the lowest bit of what a fetch's own word says; above it the number of descriptors

// Makes bundles of the frames whose ends are among the next `count` send descriptors, so that a claim has nothing to
// look for.  No fetch wraps in the cache; what is left of an earlier one counts as if it were before.
static inline void make_bundles(struct fetch_queue *q, u32 count) {
  const struct send_descriptor *s = &state->sends[q->send_ready % RING], *last = s + count;
  const struct send_descriptor *cut = s - q->tail, *whole = cut;
  u32 most = state->bundle, left = most;
  do {
    u32 length_flags = s->length_flags;
    // One pointer, moved while its load is outstanding.
    __asm__("addiu %0, %0, %2" : "+r"(s), "+r"(length_flags) : "i"(sizeof *s));
    if (__builtin_expect(!(length_flags & SEND_END), 0)) continue;
    whole = s;
    if (__builtin_expect(--left != 0, 1)) continue;
    order_enter(&state->send_order, (u32)(s - cut), most);
    cut = s;
    left = most;
  } while (s != last);
  if (left != most) order_enter(&state->send_order, (u32)(whole - cut), most - left);
  q->tail = (u32)(last - whole);
  q->send_ready += count;
}

// Takes note of fetches that have ended.
static inline void take(struct fetch_queue *q, struct registers *r) {
  u32 done = q->done, end = r->fetch_consumer;
  if (done == end) return;
  r->fetch_claim_add = end - done;
  do {
    u32 own = FETCH_RING[done++ % RING].own;
    if (own & BUFFERS)
      q->receive_ready += own >> 1;
    else
      make_bundles(q, own >> 1);
  } while (done != end);
  q->done = done;
}

// Queues a fetch of up to `posted - requested` descriptors of 16 bytes; returns how many.
static inline u32 fetch(struct fetch_queue *q, struct registers *r, u32 requested, u32 posted, u32 ready, u32 claimed,
                        u32 ring, u32 entries, void *cache, u32 kind) {
  u32 count = posted - requested, limit = FETCH - requested % FETCH;
  if (count > limit) count = limit;
  if (count < FETCH_LEAST && count != limit && (ready != requested || ready - claimed >= FETCH)) return 0;
  u32 entry = q->queued;
  if (!count || entry - q->done >= RING_ROOM) return 0;
  struct dma_descriptor *d = &FETCH_RING[entry % RING];
  d->host = ring + (requested & (entries - 1)) * 16;
  d->local = (u32)cache + requested % RING * 16;
  d->control_length = count * 16;
  d->own = count << 1 | kind;
  q->queued = entry + 1;
  compiler_barrier();
  r->fetch_producer_add = 1;
  return count;
}

u32 fetch_task(void) {
  struct fetch_queue *q = &state->fetch;
  if (!try_lock(&q->lock)) return 0;
  struct registers *r = registers();
  const struct setup *s = setup();
  u32 posted = r->send_producer, sends, requested = q->send_requested, begun = requested;
  while ((sends = fetch(q, r, requested, posted, q->send_ready, state->send.claimed, s->send_ring, s->send_entries,
                        state->sends, SENDS)))
    requested += sends;
  if ((sends = requested - begun)) {
    q->send_requested = requested;
    r->send_claim_add = sends;
  }
  u32 buffers;
  posted = r->receive_producer;
  requested = begun = q->receive_requested;
  while ((buffers = fetch(q, r, requested, posted, q->receive_ready, state->write.claimed, s->receive_ring,
                          s->receive_entries, state->buffers, BUFFERS)))
    requested += buffers;
  if ((buffers = requested - begun)) {
    q->receive_requested = requested;
    r->receive_claim_add = buffers;
  }
  take(q, r);
  unlock(&q->lock);
  return sends | buffers;
}
