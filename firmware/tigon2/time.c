// Deadlines: the longest time a received frame or a freed send buffer is kept from the host, and the period of the
// statistics.  One compare register serves all of them: it is set to the earliest.
#include "state.h"

enum { FAR = 0x40000000 }; // microseconds, when nothing is due

SCRATCHPAD_CODE void start_deadline(u32 which, u32 ticks) {
  u32 at = registers()->timer + ticks;
  state->deadlines |= which;
  state->deadline[which >> 1] = at;
  if ((s32)(at - state->compare) < 0) *state->role.compare = state->compare = at;
}

// Has the deadline `which` come?  If it runs and has not, the next event is no later than that.
static inline u32 come(u32 which, u32 now, u32 *next) {
  if (!(state->deadlines & which)) return 0;
  u32 at = state->deadline[which >> 1];
  if ((s32)(now - at) >= 0) return 1;
  if ((s32)(at - *next) < 0) *next = at;
  return 0;
}

// Event: the compare register was reached.
SCRATCHPAD_CODE void timer(void) {
  u32 now = registers()->timer, next = now + FAR;
  if (come(DEADLINE_RECEIVE, now, &next)) {
    state->deadlines &= ~DEADLINE_RECEIVE;
    event_set(REPORT_RECEIVED_EVENT);
  }
  if (come(DEADLINE_SEND, now, &next)) {
    state->deadlines &= ~DEADLINE_SEND;
    event_set(REPORT_SENT_EVENT);
  }
  if (come(DEADLINE_STATISTICS, now, &next)) {
    u32 ticks = shared_block()->statistics_ticks, at = now + ticks;
    state->deadline[DEADLINE_STATISTICS >> 1] = at;
    if (!ticks)
      state->deadlines &= ~DEADLINE_STATISTICS;
    else if ((s32)(at - next) < 0)
      next = at;
    send_statistics();
  }
  *state->role.compare = state->compare = next;
}
