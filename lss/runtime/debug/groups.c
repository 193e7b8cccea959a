// Steps within an instant; see groups.h.
#include "lss/runtime/debug/groups.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/breakpoints.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/next_pc.h"
#include "lss/runtime/debug/stepping.h"

enum { LOOK_AHEAD = 4096 }; // instants in which a processor retires an instruction unless it stands still

// How many instructions it retires in the next instant in which it retires any; the run is before that then, or where
// it was if there is none.
static uint64_t go_to_group(guint core) {
  const uint64_t now = spinach_next_instant(), retired = core_retired(core);
  const char *why = stepping_over();
  uint64_t before = now;
  StepOutcome outcome = STEPPED;
  history_mark();
  for (uint32_t i = 0; i < LOOK_AHEAD && outcome == STEPPED && core_retired(core) == retired; i++) {
    before = spinach_next_instant();
    outcome = stepping_step(true);
  }
  const uint64_t count = core_retired(core) - retired;
  stepping_go_to(count > 1 ? before : now);
  stepping_set_over(why);
  return count;
}

// Before the instruction that is so many behind the first of its instant.
static Stop stop_within(guint core, uint32_t within) {
  const uint32_t pc = core_retiring_pc(core_of(core), within);
  Stop stop;
  if (!breakpoints_hit(core, pc, &stop)) stop = (Stop){.kind = STOP_STEPPED, .core = core};
  stop.within = within;
  next_pc_know(core, pc, within);
  return breakpoints_report(stop);
}

// Whether an instruction is in a delay slot, at which no step ends.
static bool is_slot(guint core, uint32_t within) {
  const Core *processor = core_of(core);
  const uint32_t before = within ? core_retiring_pc(processor, within - 1) : (uint32_t)core_get(&processor->pc);
  return core_in_delay_slot(processor, before, core_retiring_pc(processor, within));
}

bool groups_step(guint core, Stop *stop) {
  uint32_t within = next_pc_within(core) + 1;
  if (!core_of(core)->retiring) return false;
  const uint64_t count = go_to_group(core);
  while (within < count && is_slot(core, within)) within++;
  if (within >= count) return false;
  *stop = stop_within(core, within);
  return true;
}

bool groups_go_back(guint core, bool stepped, Stop *stop) {
  for (uint32_t within = next_pc_within(core); within-- > 0;) {
    if (stepped ? is_slot(core, within) : !breakpoints_hit(core, core_retiring_pc(core_of(core), within), stop))
      continue;
    *stop = stop_within(core, within);
    return true;
  }
  return false;
}
