// Fetches buffer descriptors of the host ahead of their use: several in one transfer, one transfer of a kind at a time,
// so that receiving and sending find them in SRAM.  As long as enough are ready, a few are not worth a transfer:
// whoever uses descriptors asks again.
#include "state.h"

// Queues the transfer of descriptors, which is to end with `watch`.  Returns false when the read ring has no room.
static inline u32 queue_fetch(struct host_address base, u32 offset, u32 local, u32 length, u32 watch) {
  struct registers *r = registers();
  u32 entry = state->read_next;
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
  d->control = state->descriptor_control;
  u32 next = ring_next(entry, DMA_ENTRY, DMA_RING);
  state->sent_at[next % DMA_RING / DMA_ENTRY] = state->sent_at[entry % DMA_RING / DMA_ENTRY];
  state->read_next = next;
  r->dma_read_producer = next;
  watch_read(entry, watch);
  return 1;
}

// Fetches more receive descriptors, unless a fetch is in progress or enough are ready.
SCRATCHPAD_CODE void fetch_receive(struct receive_ring *ring) {
  u32 requested = ring->requested, count = (ring->posted - requested) & ring->entries_mask, taken = buffers_taken(ring);
  if (ring->ready != requested || !count) return;
  if (count < RECEIVE_FETCH && requested - taken >= RECEIVE_ENOUGH) return;
  u32 limit = RECEIVE_FETCH - requested % RECEIVE_FETCH;
  if (count > limit) count = limit;
  if (requested + count - taken > RECEIVE_AHEAD) return;
  enum { SIZE = sizeof(struct receive_descriptor) };
  if (queue_fetch(ring->address, (requested & ring->entries_mask) * SIZE,
                  ring->cache + requested % RECEIVE_CACHE * SIZE, count * SIZE, ring->watch))
    ring->requested = requested + count;
}

// Fetches more send descriptors, likewise.
SCRATCHPAD_CODE void fetch_send(void) {
  u32 requested = state->send_requested, count = (state->send_posted - requested) & state->sends_mask;
  if (state->send_fetching || !count) return;
  if (count < SEND_FETCH / 2 && requested - state->send_taken >= SEND_ENOUGH) return;
  u32 limit = SEND_FETCH - requested % SEND_FETCH;
  if (count > limit) count = limit;
  if (requested + count - state->send_taken > SEND_CACHE) return;
  enum { SIZE = sizeof(struct send_descriptor) };
  if (!queue_fetch(state->sends, (requested & state->sends_mask) * SIZE,
                   state->send_cache + requested % SEND_CACHE * SIZE, count * SIZE, WATCH_SEND))
    return;
  state->send_requested = requested + count;
  state->send_fetching = 1;
}
