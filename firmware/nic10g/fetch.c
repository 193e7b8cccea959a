/* Task: the host's buffer descriptors, of frames to send and of buffers for received frames.  They are fetched ahead
 * through a DMA ring of their own, which comes first at the bus.
 */
#include "state.h"

enum { SENDS, BUFFERS }; /* in the lowest bit of what a fetch's own word says; above it the number of descriptors */

/* Takes note of fetches that have ended. */
static inline void take(struct fetch_queue *q, struct registers *r) {
  u32 done = q->done, end = r->fetch_consumer, sends = q->send_ready, buffers = q->receive_ready;
  if (done == end) return;
  r->fetch_claim_add = end - done;
  do {
    u32 own = FETCH_RING[done++ % RING].own;
    if (own & BUFFERS)
      buffers += own >> 1;
    else
      sends += own >> 1;
  } while (done != end);
  q->done = done;
  q->send_ready = sends;
  q->receive_ready = buffers;
}

/* Queues a fetch of up to `posted - asked` descriptors of 16 bytes; returns how many. */
static inline u32 fetch(struct fetch_queue *q, struct registers *r, u32 asked, u32 posted, u32 ready, u32 claimed,
                        u32 ring, u32 entries, void *cache, u32 kind) {
  u32 count = posted - asked, limit = FETCH - asked % FETCH;
  if (count > limit) count = limit;
  if (count < FETCH_LEAST && count != limit && (ready != asked || ready - claimed >= FETCH)) return 0;
  u32 entry = q->queued;
  if (!count || entry - q->done >= RING_ROOM) return 0;
  struct dma_descriptor *d = &FETCH_RING[entry % RING];
  d->host = ring + (asked & (entries - 1)) * 16;
  d->local = (u32)cache + asked % RING * 16;
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
  take(q, r);
  u32 asked = q->send_asked;
  u32 sends = fetch(q, r, asked, r->send_producer, q->send_ready, state->send.claimed, setup()->send_ring,
                    setup()->send_entries, state->sends, SENDS);
  if (sends) {
    q->send_asked = asked + sends;
    r->send_claim_add = sends;
  }
  asked = q->receive_asked;
  u32 buffers = fetch(q, r, asked, r->receive_producer, q->receive_ready, state->write.claimed, setup()->receive_ring,
                      setup()->receive_entries, state->buffers, BUFFERS);
  if (buffers) {
    q->receive_asked = asked + buffers;
    r->receive_claim_add = buffers;
  }
  unlock(&q->lock);
  return sends | buffers;
}
