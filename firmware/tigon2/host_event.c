// The event ring: what the firmware reports to the host besides indices, and the errors among that.
#include "state.h"

// A transfer failed on the host's bus: the assist is idle, with the descriptor still the ring's next, until its error
// bits are cleared, and then tries it again.  Who carries out the rings without an assist does that alone.
u32 try_again(volatile u32 *assist_state) {
  u32 now = *assist_state;
  if (!(now & DMA_ERRORS) || !(registers()->assist_state & 1)) return 0;
  *assist_state = now & ~(DMA_ERRORS | DMA_ACTIVE);
  state->count.dma_errors[assist_state == &registers()->dma_read_state ? FAILED_READS : FAILED_WRITES]++;
  return 1;
}

// Waits for an entry of the write ring.  Only for what is rare: traffic waits by events.
static u32 write_entry(void) {
  while (!ring_room(state->write_next, registers()->dma_write_consumer, DMA_ENTRY, DMA_RING)) {
    if (state->engine.on) drive_rings();
    try_again(&registers()->dma_write_state);
  }
  return state->write_next;
}

static void write_to_host(struct host_address address, u32 local, u32 length) {
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)write_entry();
  d->host_high = address.high;
  d->host_low = address.low;
  d->local = local ? local : (u32)&d->own[2 - length / 4];
  d->length = length;
  d->control = state->descriptor_control;
}

// The entry written last may go.
static void release(void) {
  state->write_next = ring_next(state->write_next, DMA_ENTRY, DMA_RING);
  registers()->dma_write_producer = state->write_next;
}

// Puts an event into the host's ring, and interrupts it.  An event that finds the ring full is lost and counted.
void host_event(u32 event, u32 code) {
  struct shared *s = shared_block();
  u32 next = (state->event_index + 1) % EVENT_ENTRIES;
  if (next == s->event_consumer % EVENT_ENTRIES) {
    state->count.events_lost++;
    return;
  }
  struct host_address at = state->event_ring;
  at.low += state->event_index * 8;
  at.high += at.low < state->event_ring.low;
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)write_entry();
  d->own[0] = event << 24 | code << 12;
  d->own[1] = 0;
  write_to_host(at, 0, 8);
  release();
  state->event_index = next;
  u32 entry = write_entry();
  ((volatile struct dma_descriptor *)entry)->own[1] = next;
  write_to_host(state->event_producer, 0, 4);
  release();
  if (!(s->mode & MODE_NO_EVENT_INTERRUPT)) interrupt_after(entry | 1);
}

// Copies the statistics block, which statistics.c has filled, to the host.
void write_statistics(u32 local) {
  write_to_host(state->statistics, local, STATISTICS_BYTES);
  release();
}

// Events: a transfer failed on the host's bus.  The host is notified, so that it knows why its traffic falters.
void dma_read_attention(void) {
  if (try_again(&registers()->dma_read_state)) host_event(EVENT_ERROR, ERROR_TRANSFER);
}

void dma_write_attention(void) {
  if (try_again(&registers()->dma_write_state)) host_event(EVENT_ERROR, ERROR_TRANSFER);
}

// Events: a MAC asks for attention.  It continues when it is enabled anew.
void mac_attention(void) {
  struct registers *r = registers();
  r->mac_tx_state = state->running ? MAC_ENABLE : MAC_STOP;
  r->mac_rx_state = (state->running ? MAC_ENABLE : MAC_STOP) | (r->mac_rx_state & MAC_FILTER);
}
