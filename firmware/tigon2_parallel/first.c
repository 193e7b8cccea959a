// What processor A learns from B and requests of it.
#include "state.h"

struct messages messages __attribute__((section(".shared")));

enum { TIMEOUT = 3000, CPU_FLUSH = 4 };

// Event: B has fetched receive descriptors.
SCRATCHPAD_CODE void take_ready_buffers(void) {
  event_clear(BUFFERS_READY_EVENT);
  state->standard.ready = messages.ready[WATCH_STANDARD];
  state->jumbo.ready = messages.ready[WATCH_JUMBO];
  state->mini.ready = messages.ready[WATCH_MINI];
  if (state->jumbo.ready) state->jumbo.max_length = jumbo_length;
  events_enable(RECEIVE_EVENT);
}

// Events: the host is to be notified of what B has sent, with or without an interrupt.
SCRATCHPAD_CODE void report_of_second(void) {
  event_clear(REPORT_SENT_EVENT);
  queue_sent_report(messages.sent, 1);
}
SCRATCHPAD_CODE void index_of_second(void) {
  event_clear(INDEX_SENT_EVENT);
  queue_sent_report(messages.sent, 0);
}

void request_second(enum second_request what) {
  u32 before = messages.replies;
  messages.request = what;
  event_set_other(REQUEST_EVENT);
  while (messages.replies == before)
    if (state->engine.on) drive_rings();
}

// Starts processor B, which then copies itself while A continues.
extern void second_start(void);
void start_second(void) {
  struct registers *r = registers();
  r->cpu_b_pc = (u32)second_start;
  r->cpu_b_state = CPU_FLUSH;
}

// The DMA rings are carried out by those who own them.
u32 second_drives_rings(void) {
  return 0;
}

// This firmware needs two processors: the name of this function is what a report of the stop shows.
__attribute__((noinline, noreturn)) static void no_second_processor(void) {
  __builtin_trap();
}

// B starts with what A has laid out.
void start_roles(void) {
  struct registers *r = registers();
  for (u32 start = r->timer; !messages.alive;)
    if (r->timer - start > TIMEOUT) no_second_processor();
  state->role.events = &r->event_a;
  state->role.semaphore = &r->semaphore_a;
  state->role.other_events = &r->event_b;
  state->role.other_semaphore = &r->semaphore_b;
  volatile u32 *to = (volatile u32 *)&messages.initial;
  for (u32 i = 0; i < sizeof *state / sizeof(u32); i++) to[i] = ((u32 *)state)[i];
  messages.go = 1;
  choose_receive();
  state->engine.on &= ENGINE_WRITES;
}
