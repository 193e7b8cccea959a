/* Processor A's side of the exchange: what B has told, and what B is asked for. */
#include "hot.h"

struct exchange exchange __attribute__((section(".shared")));

enum { PATIENCE = 3000, CPU_FLUSH = 4 };

/* Event: B has fetched receive descriptors. */
HOT void take_ready_buffers(void) {
  event_clear(BUFFERS_READY_EVENT);
  hot->standard.ready = exchange.ready[WATCH_STANDARD];
  hot->jumbo.ready = exchange.ready[WATCH_JUMBO];
  hot->mini.ready = exchange.ready[WATCH_MINI];
  if (hot->jumbo.ready) hot->jumbo.max_length = jumbo_length;
  events_enable(RECEIVE_EVENT);
}

/* Events: the host is to be told what B has sent, with or without an interrupt. */
HOT void report_of_second(void) {
  event_clear(REPORT_SENT_EVENT);
  queue_sent_report(exchange.sent, 1);
}
HOT void index_of_second(void) {
  event_clear(INDEX_SENT_EVENT);
  queue_sent_report(exchange.sent, 0);
}

void ask_second(enum second_request what) {
  u32 before = exchange.answers;
  exchange.request = what;
  event_set_other(REQUEST_EVENT);
  while (exchange.answers == before)
    if (hot->engine.on) drive_rings();
}

/* Starts processor B, which then copies itself while A goes on. */
extern void second_start(void);
void start_second(void) {
  struct registers *r = registers();
  r->cpu_b_pc = (u32)second_start;
  r->cpu_b_state = CPU_FLUSH;
}

/* The DMA rings are carried out by those who own them. */
u32 second_drives_rings(void) {
  return 0;
}

/* This firmware needs two processors: the name of this function is what a report of the stop shows. */
__attribute__((noinline, noreturn)) static void no_second_processor(void) {
  __builtin_trap();
}

/* B starts with what A has laid out. */
void hand_over(void) {
  struct registers *r = registers();
  for (u32 start = r->timer; !exchange.alive;)
    if (r->timer - start > PATIENCE) no_second_processor();
  hot->role.events = &r->event_a;
  hot->role.semaphore = &r->semaphore_a;
  hot->role.other_events = &r->event_b;
  hot->role.other_semaphore = &r->semaphore_b;
  volatile u32 *to = (volatile u32 *)&exchange.handed;
  for (u32 i = 0; i < sizeof *hot / sizeof(u32); i++) to[i] = ((u32 *)hot)[i];
  exchange.go = 1;
  choose_receive();
  hot->engine.on &= ENGINE_WRITES;
}
