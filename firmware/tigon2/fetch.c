/* Fetches buffer descriptors of the host ahead of their use: several in one transfer, one transfer of a kind at a time,
 * so that receiving and sending find them in SRAM.  As long as enough lie ready, a few are not worth a transfer:
 * whoever uses descriptors asks again.
 */
#include "hot.h"

/* Queues the transfer of descriptors, which is to end with `watch`.  Returns false when the read ring has no room. */
static inline u32 queue_fetch(struct host_address base, u32 offset, u32 local, u32 length, u32 watch) {
  struct registers *r = registers();
  u32 entry = hot->read_next;
  if (!ring_room(entry, r->dma_read_consumer, DMA_ENTRY, DMA_RING)) {
    wait_for_read_room();
    return 0;
  }
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)entry;
  u32 at = base.low + offset;
  d->host_high = base.high + (at < base.low);
  d->host_low = at;
  d->local = local;
  d->length = length;
  d->control = hot->descriptor_control;
  u32 next = ring_next(entry, DMA_ENTRY, DMA_RING);
  hot->sent_at[next % DMA_RING / DMA_ENTRY] = hot->sent_at[entry % DMA_RING / DMA_ENTRY];
  hot->read_next = next;
  r->dma_read_producer = next;
  watch_read(entry, watch);
  return 1;
}

/* Fetches more receive descriptors, unless a fetch is under way or enough lie ready. */
HOT void fetch_receive(struct receive_ring *ring) {
  u32 asked = ring->asked, count = (ring->posted - asked) & ring->entries_mask, taken = buffers_taken(ring);
  if (ring->ready != asked || !count) return;
  if (count < RECEIVE_FETCH && asked - taken >= RECEIVE_ENOUGH) return;
  u32 limit = RECEIVE_FETCH - asked % RECEIVE_FETCH;
  if (count > limit) count = limit;
  if (asked + count - taken > RECEIVE_AHEAD) return;
  enum { SIZE = sizeof(struct receive_descriptor) };
  if (queue_fetch(ring->address, (asked & ring->entries_mask) * SIZE, ring->cache + asked % RECEIVE_CACHE * SIZE,
                  count * SIZE, ring->watch))
    ring->asked = asked + count;
}

/* Fetches more send descriptors, likewise. */
HOT void fetch_send(void) {
  u32 asked = hot->send_asked, count = (hot->send_posted - asked) & hot->sends_mask;
  if (hot->send_fetching || !count) return;
  if (count < SEND_FETCH / 2 && asked - hot->send_taken >= SEND_ENOUGH) return;
  u32 limit = SEND_FETCH - asked % SEND_FETCH;
  if (count > limit) count = limit;
  if (asked + count - hot->send_taken > SEND_CACHE) return;
  enum { SIZE = sizeof(struct send_descriptor) };
  if (!queue_fetch(hot->sends, (asked & hot->sends_mask) * SIZE, hot->send_cache + asked % SEND_CACHE * SIZE,
                   count * SIZE, WATCH_SEND))
    return;
  hot->send_asked = asked + count;
  hot->send_fetching = 1;
}
