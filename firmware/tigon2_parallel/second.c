/* Processor B: its start, and its side of the exchange. */
#include "hot.h"

#define SECOND __attribute__((section(".second.text")))

void dispatch_second(void) __attribute__((noreturn));
void dispatch_second_and_drive_rings(void) __attribute__((noreturn));

/* Event: A has used fetched receive descriptors. */
SECOND void fetch_wanted_buffers(void) {
  event_clear(BUFFERS_WANTED_EVENT);
  fetch_receive(&hot->standard);
  fetch_receive(&hot->jumbo);
  fetch_receive(&hot->mini);
}

/* Event: A waits for something rare to be done. */
void answer(void) {
  struct shared *s = shared_block();
  u32 *count = (u32 *)&hot->count;
  event_clear(REQUEST_EVENT);
  switch (exchange.request) {
  case TAKE_SETTINGS:
    hot->sent_ticks = s->send_ticks;
    hot->max_unsent = hot->send_countdown = s->max_send;
    break;
  case SHOW_COUNTERS:
    for (u32 i = 0; i < COUNTERS; i++) exchange.counter[i] = count[i];
    break;
  case CLEAR_COUNTERS:
    for (u32 i = 0; i < COUNTERS; i++) count[i] = 0;
    break;
  case EMPTY_JUMBO_RING:
    forget_posted(&hot->jumbo);
    exchange.ready[WATCH_JUMBO] = 0;
    break;
  }
  exchange.answers++;
}

__attribute__((noreturn)) void second_main(void) {
  struct registers *r = registers();
  r->event_b = 0;
  exchange.alive = 1;
  while (!exchange.go) {
  }
  for (u32 i = 0; i < sizeof *hot / sizeof(u32); i++) ((u32 *)hot)[i] = ((volatile u32 *)&exchange.handed)[i];
  hot->role = (struct role){
      .mailboxes = &r->mailbox_event_b,
      .compare = &r->timer_compare_b,
      .serves = SECOND_MAILBOXES,
      .events = &r->event_b,
      .semaphore = &r->semaphore_b,
      .other_events = &r->event_a,
      .other_semaphore = &r->semaphore_a,
  };
  hot->deadlines = 0;
  *hot->role.compare = hot->compare = r->timer + 0x40000000;
  hot->engine.on &= ENGINE_READS;
  choose_send();
  events_enable(SECOND_EVENTS);
  if (hot->engine.on) dispatch_second_and_drive_rings();
  dispatch_second();
}
