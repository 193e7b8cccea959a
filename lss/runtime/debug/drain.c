// Emptying a pipeline; see drain.h.
#include "lss/runtime/debug/drain.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/change.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/stepping.h"

enum {
  LOOK_AHEAD = 4096, // instants in which everything in flight has gone
  DEEPEST = 256,     // instants between the fetch of an instruction and its retirement
  TRIES = 16,        // to fetch as many instructions as are missing
};

typedef struct {
  bool held, was_halted; // by us, and before
} Drained;

static Drained *drained_of; // each core

static bool is_empty(const Core *core) {
  return core_is_empty(core) && core_writes_are_done(core);
}

// From here the processor fetches nothing more, or so many instructions: whether it then stands still with `count`
// instructions retired.
static bool is_drained(guint number, uint64_t count, uint32_t more) {
  const Core *core = core_of(number);
  core_halt(core, true);
  core_halt_behind(core, more);
  spinach_machine_table.wake();
  for (uint32_t i = 0; i < LOOK_AHEAD && core_retired(number) <= count && !is_empty(core); i++)
    if (stepping_step(true) != STEPPED) return false;
  return core_retired(number) == count && is_empty(core);
}

// The same from an instant on, with as many instructions more as are missing, where the machine can: those of a wrong
// path are missing again.
static bool is_drained_from(guint number, uint64_t count, uint64_t at) {
  for (uint32_t more = 0, tries = 0; tries < TRIES; tries++) {
    stepping_go_to(at);
    history_mark();
    if (is_drained(number, count, more)) return true;
    const uint64_t retired = core_retired(number);
    if (retired >= count || !core_halt_behind(core_of(number), 0)) return false;
    more += (uint32_t)(count - retired);
    if (tries + 1 < TRIES) history_back(at);
  }
  return false;
}

bool drain_processor(guint number, const char **error) {
  const Core *core = core_of(number);
  Drained *drained = &drained_of[number - 1];
  if (drained->held && next_pc_is_fetched(number)) return true;
  *error = "the debug view of this processor does not say how its pipeline is emptied (docs/language.md)";
  if (!core_can_halt(core)) return false;
  const uint64_t now = spinach_next_instant(), count = core_retired(number) + next_pc_within(number);
  const bool halted = drained->held ? drained->was_halted : core_is_halted(core);
  g_autoptr(GArray) instants = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint64_t start = now; instants->len < DEEPEST && start && history_back(start - 1);) { // the latest of the past
    start = spinach_next_instant();
    g_autoptr(GArray) stretch = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t end = instants->len ? g_array_index(instants, uint64_t, 0) : now;
    for (uint64_t at = spinach_next_instant(); at < end && stepping_step(true) == STEPPED;
         at = spinach_next_instant()) {
      g_array_append_val(stretch, at);
      stepping_mark_near();
    }
    g_array_prepend_vals(instants, stretch->data, stretch->len);
  }
  stepping_go_to(now);
  history_mark();
  *error = "the pipeline cannot be emptied before this instruction: go on by an instruction, and try again";
  if (halted) g_array_set_size(instants, 0); // it stands still already, or soon
  for (guint back = 0; back <= instants->len && back < DEEPEST; back++) {
    const uint64_t at = back ? g_array_index(instants, uint64_t, instants->len - back) : now;
    if (is_drained_from(number, count, at)) {
      drained->held = true;
      drained->was_halted = halted;
      next_pc_fetch(number);
      breakpoints_pass(number, count);
      change_state();
      return true;
    }
    const bool too_early = core_retired(number) < count;
    history_back(at);
    if (too_early) break;
  }
  stepping_go_to(now);
  return false;
}

bool drain_caches(guint number, uint32_t address, uint32_t count, const char **error) {
  const Core *core = core_of(number);
  *error = "caches do not stop to fetch or write back what is there: go on by an instruction, and try again";
  for (uint32_t i = 0; !core_is_quiescent(core, address, count); i++)
    if (i >= LOOK_AHEAD || stepping_step(true) != STEPPED) return false;
  next_pc_fetch(number);
  return true;
}

void drain_set_pc(guint number, uint32_t pc) {
  core_set_fetch_pc(core_of(number), pc);
  breakpoints_pass(number, UINT64_MAX);
}

void drain_let_go(void) {
  bool any = false;
  for (guint i = 0; i < core_count(); i++) {
    Drained *drained = &drained_of[i];
    if (!drained->held) continue;
    core_halt(core_of(i + 1), drained->was_halted);
    drained->held = false;
    any = true;
  }
  if (any) change_state();
}

void drain_begin(void) {
  drained_of = g_new0(Drained, core_count() + 1);
}
