// Going on to a goal; see goal.h.
#include "lss/runtime/commands/goal.h"

#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/trigger.h"
#include "lss/runtime/text/report.h"

static const spinach_options *given;
static const char *ended; // why the run is over; NULL: it is not
static bool tracing;
static double speed = -1;

Goal goal_endless(void) {
  return (Goal){.cycles = UINT64_MAX, .tick = UINT64_MAX, .watch = -1};
}

void goal_begin(const spinach_options *options) {
  given = options;
  ended = NULL;
  tracing = false;
  speed = -1;
}

const char *goal_ended(void) {
  return ended;
}

// Whether the next step would only find that the advance is over.
static bool is_advance_over(const struct spinach_advancing *a) {
  return !a->active || spinach_cycles(a->clock) >= a->end || spinach_time.now >= a->until;
}

void goal_quit(void) {
  if (!ended && is_advance_over(&spinach_advancing)) ended = run_conduct.begin();
  if (ended) return;
  spinach_part_complete(spinach_next_instant());
  ended = "ended by its user";
}

void goal_trace(bool wanted) {
  tracing = wanted;
}

double goal_speed(void) {
  return speed;
}

static bool is_reached(const Goal *goal) {
  return spinach_cycles(given->clock) >= goal->cycles || spinach_time.now >= goal->tick ||
         (goal->state && spinach_condition_compares(goal->state)) ||
         (goal->core && core_get(&goal->core->retired) >= goal->retired) ||
         (goal->watch >= 0 && spinach_watch_count(goal->watch) >= goal->happened);
}

// One instant is stepped, or idle time is skipped up to the goal.
static void bound_instant(struct spinach_advancing *a, const Goal *goal) {
  a->until = MIN(a->until, goal->tick);
  if (goal->cycles < UINT64_MAX) a->until = MIN(a->until, spinach_instant_of(given->clock, goal->cycles));
}

// Idle time is skipped up to the goal, not beyond; a state that may change in it is looked at after each instant.
static void bound(const Goal *goal) {
  struct spinach_advancing *a = &spinach_advancing;
  const bool each = tracing || (goal->state && goal->state->place.field->passes);
  if (each) spinach_advance_each();
  if (a->one_instant) {
    bound_instant(a, goal);
    return;
  }
  if (a->clock == given->clock) a->end = MIN(a->end, goal->cycles);
  if (goal->cycles < UINT64_MAX) a->loops_end = MIN(a->loops_end, a->end);
  a->until = MIN(a->until, goal->tick);
  // A command that stepped single instants may have left a piece that was chosen without this goal.
  a->stop = MIN(a->stop, a->end);
  a->before = MIN(a->before, a->until);
}

// Whether nothing but the bounds of the advance ends a command, so that whole pieces can be run.
static bool is_bounded_by_advance(const Goal *goal) {
  return !goal->state && !goal->core && goal->watch < 0 && !tracing;
}

// The run goes on with its next advance, unless it is over.
static void advance(void) {
  g_autofree char *stuck = run_conduct.stuck();
  if (spinach_advancing.nothing_left)
    ended = SPINACH_NOTHING_LEFT;
  else
    ended = stuck ? run_conduct.end_stuck(stuck) : run_conduct.begin();
}

static void go(const Goal *goal) {
  const bool whole = is_bounded_by_advance(goal);
  while (!ended && !spinach_take_pause()) {
    if (!spinach_advancing.active) {
      advance();
      if (ended) return;
    }
    bound(goal);
    const uint64_t before = spinach_time.now;
    spinach_advance_step(!whole);
    if (tracing && spinach_time.now != before) spinach_trace_line();
    if (is_reached(goal)) return;
  }
}

void goal_go(const Goal *goal) {
  const int32_t fastest = spinach_fastest_clock();
  const uint64_t before = spinach_cycles(fastest);
  const gint64 began = g_get_monotonic_time();
  go(goal);
  const gint64 took = g_get_monotonic_time() - began;
  speed = (double)(spinach_cycles(fastest) - before) * G_USEC_PER_SEC / (double)MAX(took, 1);
}
