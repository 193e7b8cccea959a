// Start-up, and the loop in which every core looks for tasks.
#include "state.h"

enum { PAUSE = 16 }; // times four cycles

// Rings that do not fit the caches here, or buffers that do not take every frame: the host is never notified that the
// firmware is up.
static void check_setup(void) {
  const struct setup *s = setup();
  u32 sends = s->send_entries, buffers = s->receive_entries, returns = s->return_entries;
  u32 odd = (sends & (sends - 1)) | (buffers & (buffers - 1)) | (returns & (returns - 1));
  u32 small = sends < FETCH || buffers < FETCH || returns < buffers || s->buffer_bytes < LONGEST_FRAME;
  if (odd || small || sends > RING || buffers > RING)
    for (;;) {
    }
}

// Once, by the first core.  Memory and the pointers of all rings are zero after reset.
static void initialise(void) {
  check_setup();
  struct registers *r = registers();
  u32 way = setup()->ordering, most = setup()->bundle;
  if (way == ORDER_BEST || way > ORDER_ATOMIC) way = ORDER_ATOMIC;
  if (way == ORDER_ATOMIC && !(r->features & FEATURE_ATOMIC)) way = ORDER_LINKED;
  state->ordering = way;
  while (most & (most - 1)) most &= most - 1;
  state->bundle = most && most < BUNDLE ? most : BUNDLE;
  if (way != ORDER_LOCKED) state->send_order.flags[0] = state->write_order.flags[0] = ORDER_COMPLETE;
  r->mac_rx_state = MAC_ENABLE;
  // A bundle of its own notifies the host that the firmware is up.
  struct write_queue *q = &state->write;
  u32 bundle = order_enter(&state->write_order, 1, 0);
  q->entries = 1;
  write_status(0, bundle, 0, 0);
  write_finish(bundle);
  compiler_barrier();
  state->ready = 1;
}

// Who finds nothing looks elsewhere for a while, so as not to be in the way of those who work.
static inline void pause(void) {
  for (u32 i = PAUSE; i; i--) __asm__ volatile("" : "+r"(i));
}

// Any core takes any task; it looks at all queues in turn, so that none is served at the cost of another.
__attribute__((noreturn)) void cores_main(u32 core) {
  struct registers *r = registers();
  if (core == 0)
    initialise();
  else
    while (!state->ready) {
    }
  for (;;) {
    u32 events = r->events, worked = 0;
    if (events & (EVENT_SEND_POSTED | EVENT_BUFFERS_POSTED | EVENT_FETCHED)) worked = fetch_task();
    if (events & EVENT_RECEIVED) worked |= receive_task();
    worked |= send_task();
    if (!worked && !report_task()) pause();
  }
}
