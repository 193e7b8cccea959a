// The loop of a fork of the run, which ends when the module that forked has its result; see fork_loop.h.  What bounds
// the run does not bound its forks: a result does not depend on how soon after its beginning the run ended.
#include "lss/runtime/run/fork_loop.h"

#include "lss/runtime/engine/forks.h"
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/observe/standstill.h"
#include "lss/runtime/replay/repeats.h"
#include "lss/runtime/run/run.h"
#include "lss/runtime/trace/recorder.h"

enum { SLICE = 1 << 16 }; // cycles between looks whether there is progress

static void step_slice(void) {
  const int32_t clock = spinach_fastest_clock();
  const uint64_t looked = SLICE - spinach_cycles(clock) % SLICE, cycles = MIN(looked, spinach_standstill_distance());
  spinach_advance_begin(clock, UINT64_MAX, UINT64_MAX, (struct spinach_slice){cycles, cycles}, true);
  while (spinach_advancing.active) spinach_advance_step(false);
}

static void go_on(void) {
  spinach_hooks.go_on = NULL; // this is it
  spinach_time.now = spinach_next_instant();
  for (;;) {
    if (spinach_stopping & SPINACH_STOP) spinach_fork_over();
    spinach_stopping = 0;
    if (spinach_time.now >= spinach_last_instant()) spinach_fork_over();
    step_slice();
    if (spinach_advancing.nothing_left || spinach_standstill_found()) spinach_fork_over();
    if (spinach_repeats_endless())
      spinach_fork_fail("the machine does the same again and again, and nothing ends that");
    g_autofree char *text = spinach_run_stuck();
    if (text) spinach_fork_fail(text);
  }
}

void spinach_fork_loop_prepare(const spinach_options *options) {
  spinach_forks_limit(options->forks);
  spinach_forks_prepare(spinach_recorder_detach, go_on);
  if (spinach_states_are_looked_at(options)) spinach_forks_join_always();
}
