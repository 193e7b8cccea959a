// Start-up of processor A, once: sizes the memory, lays out rings and buffers, reads what the host prepared, tells it
// that the firmware is up, and goes to the dispatch loop.  This code runs from SRAM.
#include "state.h"

// Caches of host descriptors, below the packet memory.  What is read was fetched before, so they need no clearing.
#define UNCLEARED __attribute__((section(".uncleared"), aligned(32)))
static struct receive_descriptor standard_cache[RECEIVE_CACHE] UNCLEARED;
static struct receive_descriptor jumbo_cache[RECEIVE_CACHE] UNCLEARED;
static struct receive_descriptor mini_cache[RECEIVE_CACHE] UNCLEARED;
static struct send_descriptor send_cache[SEND_CACHE] UNCLEARED;
static struct host_rings rings UNCLEARED;
static volatile u32 probe; // a word to look for

extern char image_end[]; // end of everything at the bottom of the SRAM

enum { TIMER_PRESCALE = 0x55, SMALLEST_SRAM = 0x40000, LARGEST_SRAM = 0x200000 };

// Addresses repeat modulo the size of the SRAM: finds the first distance at which a word shows up again.
static u32 sram_size(void) {
  for (u32 size = SMALLEST_SRAM; size < LARGEST_SRAM; size *= 2) {
    volatile u32 *far = (volatile u32 *)((u32)&probe + size);
    u32 kept = *far;
    probe = 0x5aa5f00f;
    *far = ~size;
    u32 seen = probe;
    *far = kept;
    if (seen == ~size) return size;
  }
  return LARGEST_SRAM;
}

// Rings and buffers at the end of the address range that the assists use.
static void lay_out_memory(void) {
  struct registers *r = registers();
  u32 size = sram_size(), low = ((u32)image_end + 0xfff) & ~0xfffu;
  u32 fixed = PACKET_MEMORY_END - size + low, buffers = fixed + FIXED_BUFFERS;
  u32 share = shared_block()->transmit_share;
  if (share == 0 || share > 63) share = 21;
  u32 middle = buffers + ((PACKET_MEMORY_END - buffers) / 64 * share & ~7u);

  r->stack_offset_a = OVERFLOW_AREA - fixed;
  r->stack_offset_b = OVERFLOW_AREA - (fixed + 0x1000);
  r->tx_buffer_base = r->tx_buffer_producer = r->tx_buffer_consumer = buffers;
  r->rx_buffer_base = r->rx_buffer_producer = r->rx_buffer_reference = middle;
  state->send_buffer_base = state->send_buffer_next = buffers;
  state->send_buffer_end = middle;

  u32 ring = fixed + FIXED_MAC_SEND;
  r->mac_tx_producer = r->mac_tx_consumer = r->mac_tx_reference = state->mac_send_next = ring;
  ring = fixed + FIXED_MAC_RECEIVE;
  ((volatile struct mac_descriptor *)ring)->buffer = middle;
  r->mac_rx_producer = r->mac_rx_consumer = r->mac_rx_reference = state->mac_receive_next = ring;
  ring = fixed + FIXED_DMA_READ;
  r->dma_read_producer = r->dma_read_consumer = r->dma_read_reference = ring;
  state->read_next = state->engine.read_entry = ring;
  ring = fixed + FIXED_DMA_WRITE;
  r->dma_write_producer = r->dma_write_consumer = r->dma_write_reference = ring;
  state->write_next = state->engine.write_entry = ring;
}

// Who carries out the DMA rings: the hardware if the host wants that, by its mode or by having enabled the assist
// before the start, else processor B, else this one.
static void start_rings(void) {
  struct registers *r = registers();
  struct shared *s = shared_block();
  u32 assist = (s->mode & MODE_ASSIST) || (r->assist_state & ASSIST_ENABLE);
  r->assist_state = assist ? ASSIST_ENABLE : 0;
  state->engine.failed = state->count.dma_errors;
  if (!assist && !second_drives_rings()) state->engine.on = ENGINE_READS | ENGINE_WRITES;

  u32 base = DMA_ACTIVE | (s->dma_read_setup & DMA_THRESHOLDS);
  state->descriptor_control = base | (s->mode & MODE_SHARED_BYTES ? 0 : DMA_WORD_VALUES);
  state->data_control = base | (s->mode & MODE_DATA_BYTES ? 0 : DMA_WORD_VALUES);
}

// Reads the host's description of its rings and waits until it is there.
static void read_rings(void) {
  struct registers *r = registers();
  struct shared *s = shared_block();
  volatile struct dma_descriptor *d = (volatile struct dma_descriptor *)state->read_next;
  u32 low = s->information.low + HOST_RINGS_OFFSET;
  d->host_high = s->information.high + (low < HOST_RINGS_OFFSET);
  d->host_low = low;
  d->local = (u32)&rings;
  d->length = sizeof rings;
  d->control = state->descriptor_control;
  state->read_next = ring_next(state->read_next, DMA_ENTRY, DMA_RING);
  r->dma_read_producer = state->read_next;
  while (r->dma_read_consumer != state->read_next) {
    if (state->engine.on) drive_rings();
    try_again(&r->dma_read_state);
  }
}

static void open_receive_ring(struct receive_ring *ring, const volatile struct ring_control *control, u32 entries,
                              void *cache, u32 watch) {
  ring->address = *(const struct host_address *)&control->address;
  ring->entries_mask = entries - 1;
  ring->max_length = control->flags & RING_DISABLED ? 0 : control->max_length;
  ring->cache = (u32)cache;
  ring->watch = watch;
}

static void open_rings(void) {
  const volatile struct host_rings *h = &rings;
  open_receive_ring(&state->standard, &h->standard, 512, standard_cache, WATCH_STANDARD);
  open_receive_ring(&state->jumbo, &h->jumbo, 256, jumbo_cache, WATCH_JUMBO);
  jumbo_length = state->jumbo.max_length;
  open_receive_ring(&state->mini, &h->mini, 1024, mini_cache, WATCH_MINI);
  state->receive_flags = h->standard.flags | (h->returns.flags & RING_INDEX_AT_ONCE);
  state->returns = rings.returns.address;
  state->returns_mask = (h->returns.max_length ? h->returns.max_length : 2048) - 1;
  state->sends = rings.send.address;
  state->sends_mask = (h->send.max_length ? h->send.max_length : 512) - 1;
  state->send_flags = h->send.flags;
  state->send_cache = (u32)send_cache;
  state->event_ring = rings.event.address;
  state->event_producer = rings.event_producer;
  state->return_producer = rings.return_producer;
  state->send_consumer = rings.send_consumer;
  state->statistics = rings.statistics;

  struct shared *s = shared_block();
  state->received_ticks = s->receive_ticks;
  state->sent_ticks = s->send_ticks;
  state->max_unsent = state->send_countdown = s->max_send;
  state->max_unreported = s->max_receive;
}

static void start_time(void) {
  u32 now = registers()->timer;
  state->compare = now + 0x40000000;
  u32 ticks = shared_block()->statistics_ticks;
  if (ticks) {
    state->deadlines = DEADLINE_STATISTICS;
    state->deadline[DEADLINE_STATISTICS >> 1] = state->compare = now + ticks;
  }
  *state->role.compare = state->compare;
}

__attribute__((noreturn)) void start(void) {
  struct registers *r = registers();
  state->role.mailboxes = &r->mailbox_event_a;
  state->role.compare = &r->timer_compare_a;
  state->role.serves = SERVED_MAILBOXES;
  r->misc_config = r->misc_config | TIMER_PRESCALE;
  state->local_control = r->misc_local_ctl & ~LOCAL_INTERRUPT;
  lay_out_memory();
  start_second();
  set_mac_address();
  start_rings();
  read_rings();
  open_rings();
  start_time();
  shared_block()->command_consumer = 0;
  r->event_a = 0;
  events_enable(FIRST_EVENTS);
  start_roles();
  host_event(EVENT_RUNNING, 0);
  if (state->engine.on) dispatch_and_drive_rings();
  dispatch();
}
