// Forwards, and how a run ends; see run_control.h.
#include "lss/runtime/debug/run_control.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/drain.h"
#include "lss/runtime/debug/groups.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/stepping.h"
#include "lss/runtime/debug/stop_conditions.h"
#include "lss/runtime/debug/stops.h"

enum {
  POLL_EVERY = 512,     // steps
  STEP_LIMIT = 1000000, // instants for which a step waits for the instruction behind it
};

static bool (*poll_request)(void);

static Stop ended(StepOutcome outcome) {
  Stop stop = {.kind = outcome == ENDED ? STOP_OVER : STOP_FAILED};
  uint32_t pc;
  for (guint i = 1; i <= core_count() && outcome == FAILED; i++) {
    if (!stepping_failed(i, &pc)) continue;
    Stop hit;
    next_pc_know(i, pc, 0);
    stop.core = i;
    if (breakpoints_hit(i, pc, &hit) && !breakpoints_reported(i)) return breakpoints_report(hit);
  }
  stepping_end();
  return stop;
}

// The run would end here, since it makes no progress.
static bool is_stuck(void) {
  g_autofree char *why = run_conduct.stuck();
  if (!why) return false;
  stepping_fail(why);
  stepping_end();
  return true;
}

// Back to before the instant in which something retired; what only happened has then happened already.
static Stop stop_at(GArray *found, uint64_t before) {
  bool retires = false;
  for (guint i = 0; i < found->len; i++) retires |= stop_is_of_instruction(&g_array_index(found, Met, i).stop);
  if (retires) stepping_go_to(before);
  return stops_deliver(found, retires);
}

// The first that the stepped one retires is the instruction that is stepped.
static bool drop_step(GArray *found) {
  for (guint i = 0; i < found->len; i++) {
    if (g_array_index(found, Met, i).stop.kind != STOP_STEPPED) continue;
    g_array_remove_index(found, i);
    return true;
  }
  return false;
}

Stop run_control_forward(guint core, bool stepped, StopScope scope) {
  Stop stop;
  if (scope != STOPS_OF_ONE_FIRST && stops_go_back(&stop)) return stop;
  if (scope == STOPS_OF_ALL && stops_next(&stop)) return stop;
  drain_let_go();
  if (stepped && groups_step(core, &stop)) return stop;
  history_mark();
  const bool one_instant =
      stepped || breakpoints_each_instant() || (scope == STOPS_OF_ONE_FIRST && stop_conditions_any());
  stop_conditions_see();
  breakpoints_see();
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Met));
  bool first = true; // of the stepped processor: its instruction is not over
  for (uint64_t count = 1;; count++) {
    const uint64_t before = spinach_next_instant();
    if (is_stuck()) return (Stop){.kind = STOP_FAILED};
    const StepOutcome outcome = stepping_step(one_instant);
    if (outcome != STEPPED) return ended(outcome);
    stepping_mark_far();
    if (one_instant)
      breakpoints_collect(before, stepped ? core : 0, false, found);
    else
      stop_conditions_collect_times(before, found);
    if (scope != STOPS_OF_ALL) stops_drop_others(found, core, scope);
    if (first && drop_step(found)) first = false;
    if (found->len) return stop_at(found, before);
    if (count % POLL_EVERY == 0 && poll_request()) return (Stop){.kind = STOP_REQUESTED};
    if (stepped && count > STEP_LIMIT) return breakpoints_report((Stop){.kind = STOP_STEPPED, .core = core});
  }
}

void run_control_repeat(void (*take)(const Event *event)) {
  const uint64_t now = spinach_next_instant();
  const char *over = stepping_over();
  history_back(history_oldest());
  events_collect(true);
  while (spinach_next_instant() < now && stepping_step(true) == STEPPED) {
    const GArray *events = events_look();
    for (guint i = 0; i < events->len; i++) take(&g_array_index(events, Event, i));
    stepping_mark_far();
  }
  events_collect(false);
  stepping_set_over(over);
}

const char *run_control_end(void) {
  const char *why = stepping_over();
  run_control_leave();
  g_autofree char *stuck = why ? NULL : run_conduct.stuck();
  if (stuck) return run_conduct.end_stuck(stuck);
  while (!why) { // the instant that fails is done again
    if (!spinach_advancing.active && (why = run_conduct.begin())) break;
    spinach_advance_step(true);
  }
  return why;
}

void run_control_leave(void) {
  drain_let_go();
  history_end();
}

bool run_control_requested(void) {
  return poll_request();
}

void run_control_begin(uint64_t history, bool (*requested)(void)) {
  poll_request = requested;
  events_begin();
  stop_conditions_begin();
  breakpoints_begin();
  next_pc_begin();
  drain_begin();
  stops_begin();
  stepping_begin(history);
}
