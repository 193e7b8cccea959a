// Looking ahead for the next instruction; see next_pc.h.
#include "lss/runtime/debug/next_pc.h"

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/debug/history.h"
#include "lss/runtime/debug/stepping.h"

enum { LOOK_AHEAD = 4096 }; // instants in which a processor retires an instruction unless it stands still

typedef struct {
  uint64_t at; // the instant for which it is known
  uint32_t pc, within;
} Known;

static Known *known_of;       // each core
static uint64_t *still_since; // of each: the instant at which it stands still

void next_pc_know(guint core, uint32_t pc, uint32_t within) {
  known_of[core - 1] = (Known){spinach_next_instant(), pc, within};
}

uint32_t next_pc_within(guint core) {
  return known_of[core - 1].at == spinach_next_instant() ? known_of[core - 1].within : 0;
}

void next_pc_fetch(guint core) {
  still_since[core - 1] = spinach_next_instant();
}

bool next_pc_is_fetched(guint core) {
  return still_since[core - 1] == spinach_next_instant();
}

// The address of the instruction that it retires next.
static uint32_t look_ahead(guint number) {
  const Known *known = &known_of[number - 1];
  const Core *core = core_of(number);
  const uint64_t now = spinach_next_instant();
  if (next_pc_is_fetched(number)) return core_fetch_pc(core);
  if (known->at == now) return known->pc;
  history_mark();
  const uint64_t before = core_retired(number);
  // If it never retires one: that which it would fetch, or the one after the last.
  const bool fetch_is_next = core_has_fetch_pc(core) && (!before || core_is_empty(core));
  uint32_t pc = fetch_is_next ? core_fetch_pc(core) : (uint32_t)core_get(&core->pc) + 4;
  const char *why = stepping_over();
  StepOutcome outcome = STEPPED;
  for (uint32_t i = 0; i < LOOK_AHEAD && core_retired(number) == before && outcome == STEPPED; i++)
    outcome = stepping_step(true);
  if (core_retired(number) != before) pc = core_retired_pc(core, core_retired(number) - before - 1);
  uint32_t failed;
  if (outcome == FAILED && stepping_failed(number, &failed)) pc = failed;
  history_back(now);
  stepping_set_over(why);
  next_pc_know(number, pc, 0);
  return pc;
}

uint32_t next_pc_of(guint number) {
  const Core *core = core_of(number);
  const uint32_t pc = look_ahead(number), within = next_pc_within(number);
  const uint32_t last = within ? core_retiring_pc(core, within - 1) : (uint32_t)core_get(&core->pc);
  return core_retired(number) && core_in_delay_slot(core, last, pc) ? last : pc;
}

void next_pc_forget(void) {
  for (guint i = 0; i < core_count(); i++) known_of[i].at = UINT64_MAX;
}

void next_pc_begin(void) {
  known_of = g_new0(Known, core_count() + 1);
  still_since = g_new(uint64_t, core_count() + 1);
  for (guint i = 0; i < core_count(); i++) still_since[i] = UINT64_MAX;
  next_pc_forget();
}
