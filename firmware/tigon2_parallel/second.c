// Processor B: its start, and what it does when A requests it.
#include "state.h"

#define SECOND __attribute__((section(".second.text")))

void dispatch_second(void) __attribute__((noreturn));
void dispatch_second_and_drive_rings(void) __attribute__((noreturn));

// Event: A has used fetched receive descriptors.
SECOND void fetch_wanted_buffers(void) {
  event_clear(BUFFERS_WANTED_EVENT);
  fetch_receive(&state->standard);
  fetch_receive(&state->jumbo);
  fetch_receive(&state->mini);
}

// Event: A waits for something rare to be done.
void serve_request(void) {
  struct shared *s = shared_block();
  u32 *count = (u32 *)&state->count;
  event_clear(REQUEST_EVENT);
  switch (messages.request) {
  case TAKE_SETTINGS:
    state->sent_ticks = s->send_ticks;
    state->max_unsent = state->send_countdown = s->max_send;
    break;
  case SHOW_COUNTERS:
    for (u32 i = 0; i < COUNTERS; i++) messages.counter[i] = count[i];
    break;
  case CLEAR_COUNTERS:
    for (u32 i = 0; i < COUNTERS; i++) count[i] = 0;
    break;
  case EMPTY_JUMBO_RING:
    invalidate_posted(&state->jumbo);
    messages.ready[WATCH_JUMBO] = 0;
    break;
  }
  messages.replies++;
}

__attribute__((noreturn)) void second_main(void) {
  struct registers *r = registers();
  r->event_b = 0;
  messages.alive = 1;
  while (!messages.go) {
  }
  for (u32 i = 0; i < sizeof *state / sizeof(u32); i++) ((u32 *)state)[i] = ((volatile u32 *)&messages.initial)[i];
  state->role = (struct role){
      .mailboxes = &r->mailbox_event_b,
      .compare = &r->timer_compare_b,
      .serves = SECOND_MAILBOXES,
      .events = &r->event_b,
      .semaphore = &r->semaphore_b,
      .other_events = &r->event_a,
      .other_semaphore = &r->semaphore_a,
  };
  state->deadlines = 0;
  *state->role.compare = state->compare = r->timer + 0x40000000;
  state->engine.on &= ENGINE_READS;
  choose_send();
  events_enable(SECOND_EVENTS);
  if (state->engine.on) dispatch_second_and_drive_rings();
  dispatch_second();
}
