// The next step of the run; see stepping.h.
#include "lss/runtime/debug/stepping.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/conduct.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/stop_conditions.h"

enum {
  FAR = 100000, // cycles of the fastest clock between marks
  NEAR = 1000,  // and where something was looked for
};

static uint32_t *last_executed; // of each core, when the run failed: an instruction that fails does not retire
static uint64_t period;
static const char *over;
static uint64_t end_at = UINT64_MAX; // the instant at which the run was found to be over
static char *failure;
static jmp_buf escape;

static void on_error(const char *text) {
  spinach_on_error = NULL;
  g_free(failure);
  failure = g_strdup(text);
  longjmp(escape, 1);
}

// A time that is waited for is not passed: neither by a whole piece, which may have been chosen before it was set, nor
// by a jump over idle time.
static void bound(struct spinach_advancing *a, uint64_t tick) {
  a->until = MIN(a->until, tick);
  a->before = MIN(a->before, a->until);
}

StepOutcome stepping_step(bool one_instant) {
  const uint64_t before = spinach_next_instant();
  over = NULL;
  if (setjmp(escape)) {
    for (guint i = 0; i < core_count(); i++) last_executed[i] = (uint32_t)core_get(&core_of(i + 1)->pc);
    history_back(before);
    while (spinach_next_instant() < before) stepping_step(true);
    StepOutcome outcome = FAILED; // somewhere in a piece: which instant fails shows one by one
    if (!one_instant)
      while ((outcome = stepping_step(true)) == STEPPED) continue;
    return outcome;
  }
  if (!spinach_advancing.active && !spinach_advancing.nothing_left) over = run_conduct.begin();
  if (!over && spinach_advancing.nothing_left) over = SPINACH_NOTHING_LEFT;
  if (over) return ENDED;
  spinach_on_error = on_error;
  bound(&spinach_advancing, stop_conditions_tick());
  if (one_instant && stop_conditions_pass()) spinach_advance_each();
  spinach_advance_step(one_instant);
  spinach_on_error = NULL;
  return STEPPED;
}

void stepping_mark_near(void) {
  if (spinach_next_instant() - history_marked() >= NEAR * period) history_mark();
}

void stepping_mark_far(void) {
  if (spinach_next_instant() - history_marked() >= FAR * period) history_mark();
}

void stepping_go_to(uint64_t instant) {
  if (instant < spinach_next_instant()) history_back(instant);
  while (spinach_next_instant() < instant && stepping_step(true) == STEPPED) stepping_mark_near();
}

void stepping_look_ahead(uint32_t instants, void (*look)(void *arguments), void *arguments) {
  const uint64_t now = spinach_next_instant();
  const char *why = over;
  if (instants) history_mark();
  for (uint32_t i = 0; i < instants && stepping_step(true) == STEPPED; i++) continue;
  look(arguments);
  if (instants) history_back(now);
  over = why;
}

// An instruction that fails does not retire, but is known as the last that was executed.
bool stepping_failed(guint number, uint32_t *pc) {
  *pc = last_executed[number - 1];
  return *pc != (uint32_t)core_get(&core_of(number)->pc);
}

void stepping_fail(const char *why) {
  over = NULL;
  g_free(failure);
  failure = g_strdup(why);
}

const char *stepping_why(void) {
  return over ? over : failure;
}

const char *stepping_over(void) {
  return over;
}

void stepping_set_over(const char *why) {
  over = why;
}

void stepping_begin(uint64_t history) {
  last_executed = g_new0(uint32_t, core_count() + 1);
  period = MIN(spinach_machine_table.clocks[spinach_fastest_clock()].period, SPINACH_LAST_INSTANT / FAR);
  history_begin(history, FAR * period);
}

void stepping_end(void) {
  end_at = spinach_next_instant();
}

bool stepping_is_at_end(void) {
  return end_at == spinach_next_instant();
}

void stepping_go_on(void) {
  end_at = UINT64_MAX;
}
