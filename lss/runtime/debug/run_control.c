// Forwards, backwards, and what stops there; see run_control.h.
#include "lss/runtime/debug/run_control.h"

#include "lss/runtime/debug/history.h"

enum {
  FAR = 100000,         // cycles of the fastest clock between marks
  NEAR = 1000,          // and where something was looked for
  LOOK_AHEAD = 4096,    // instants in which a processor retires an instruction unless it stands still
  POLL_EVERY = 512,     // steps
  STEP_LIMIT = 1000000, // instants for which a step waits for the instruction behind it
  DEEPEST = 256,        // instants between the fetch of an instruction and its retirement
};

typedef struct {
  GHashTable *breakpoints; // address to 1: software, 2: hardware
  uint64_t seen;           // retired when it was looked at last
  uint32_t last;           // the address of the latest of them
  uint32_t failed;         // the address of what was executed last when the run failed
  uint64_t pc_at;          // the instant for which the next pc is known
  uint32_t pc;
  uint64_t reported;   // how many had retired at its latest stop: that instruction is not reported again on the way on
  uint64_t drained_at; // the instant at which it stands still
  bool held, was_halted; // by us, and before
} Progress;

typedef struct {
  guint core;
  uint32_t address, count;
  uint8_t *value;
} Watch;

typedef struct {
  Stop stop;
  uint64_t instant;
  uint32_t pc;
} Found;

static const GPtrArray *cores;
static Progress *progress_of;     // of each core
static GArray *watches, *pending; // Watch, Found
static Found deferred;            // without a core: none
static uint64_t period;
static bool (*poll_request)(void);
static bool (*until)(void);
static const char *over;
static char *failure;
static uint64_t end_at = UINT64_MAX; // the instant at which the run was found to be over
static jmp_buf escape;

static const Core *core_of(guint number) {
  return cores->pdata[number - 1];
}

static uint64_t retired(guint number) {
  return (uint64_t)core_get(&core_of(number)->retired);
}

static uint64_t here(void) {
  return spinach_next_instant();
}

// ---- One step -------------------------------------------------------------------------------------------------------

static void on_error(const char *text) {
  spinach_on_error = NULL;
  g_free(failure);
  failure = g_strdup(text);
  longjmp(escape, 1);
}

typedef enum { STEPPED, ENDED, FAILED } Outcome;

// A step of the run.  After an error the state is that before the instant that fails.
static Outcome step(bool one_instant) {
  const uint64_t before = here();
  over = NULL;
  if (setjmp(escape)) {
    for (guint i = 0; i < cores->len; i++) progress_of[i].failed = (uint32_t)core_get(&core_of(i + 1)->pc);
    history_back(before);
    while (here() < before) step(true);
    Outcome outcome = FAILED; // somewhere in a piece: which instant fails shows one by one
    if (!one_instant)
      while ((outcome = step(true)) == STEPPED) continue;
    return outcome;
  }
  if (!spinach_advancing.active && !spinach_advancing.nothing_left) over = spinach_run_begin();
  if (!over && spinach_advancing.nothing_left) over = SPINACH_NOTHING_LEFT;
  if (over) return ENDED;
  spinach_on_error = on_error;
  spinach_advance_step(one_instant);
  spinach_on_error = NULL;
  return STEPPED;
}

// Marks on the way where something is looked for.
static void mark_near(void) {
  if (here() - history_marked() >= NEAR * period) history_mark();
}

static void go_to(uint64_t instant) {
  if (instant < here()) history_back(instant);
  while (here() < instant && step(true) == STEPPED) mark_near();
}

// ---- What is looked for ---------------------------------------------------------------------------------------------

static bool looks(void) {
  bool any = watches->len || until;
  for (guint i = 0; i < cores->len; i++) any |= g_hash_table_size(progress_of[i].breakpoints) > 0;
  return any;
}

static void see(void) {
  for (guint i = 0; i < cores->len; i++) {
    progress_of[i].seen = retired(i + 1);
    progress_of[i].last = (uint32_t)core_get(&core_of(i + 1)->pc);
  }
  for (guint i = 0; i < watches->len; i++) {
    Watch *watch = &g_array_index(watches, Watch, i);
    core_read(core_of(watch->core), watch->address, watch->value, watch->count);
  }
}

// After an instant that began at `before`: adds what was met in it.
static void collect(uint64_t before, guint stepped, GArray *found) {
  for (guint i = 0; i < cores->len; i++) {
    Progress *progress = &progress_of[i];
    const uint64_t now = retired(i + 1);
    if (now == progress->seen) continue;
    const uint64_t count = progress->seen; // before it
    progress->seen = now;
    const uint32_t pc = (uint32_t)core_get(&core_of(i + 1)->pc), last = progress->last;
    progress->last = pc;
    const gpointer kind = g_hash_table_lookup(progress->breakpoints, GUINT_TO_POINTER(pc));
    Found met = {{.core = i + 1, .hardware = GPOINTER_TO_UINT(kind) == 2}, before, pc};
    if (kind && count != progress->reported) {
      met.stop.kind = STOP_BREAKPOINT;
      g_array_append_val(found, met);
    } else if (stepped == i + 1 && !core_in_delay_slot(core_of(i + 1), last, pc)) {
      met.stop.kind = STOP_STEPPED;
      g_array_append_val(found, met);
    }
  }
  uint8_t value[64];
  for (guint i = 0; i < watches->len; i++) {
    Watch *watch = &g_array_index(watches, Watch, i);
    core_read(core_of(watch->core), watch->address, value, watch->count);
    if (memcmp(value, watch->value, watch->count) == 0) continue;
    memcpy(watch->value, value, watch->count);
    const Found met = {{STOP_WATCHPOINT, watch->core, true, watch->address}, before, 0};
    g_array_append_val(found, met);
  }
}

// An instruction that fails does not retire, but is known as the last that was executed.
static bool fails(guint number, uint32_t *pc) {
  *pc = progress_of[number - 1].failed;
  return *pc != (uint32_t)core_get(&core_of(number)->pc);
}

// ---- Stops ----------------------------------------------------------------------------------------------------------

// It is valid for this instant.
static void know_pc(guint core, uint32_t pc) {
  progress_of[core - 1].pc = pc;
  progress_of[core - 1].pc_at = here();
}

static Stop report(Stop stop) {
  if (!stop.core) return stop;
  progress_of[stop.core - 1].reported = retired(stop.core);
  return stop;
}

// Of what was met in one instant the first is reported; the others wait for the next time somebody goes on.
static Stop deliver(const GArray *found) {
  g_array_set_size(pending, 0);
  for (guint i = 0; i < found->len; i++) {
    const Found *met = &g_array_index(found, Found, i);
    if (met->stop.kind != STOP_WATCHPOINT) know_pc(met->stop.core, met->pc);
    Found later = *met;
    later.instant = here();
    if (i) g_array_append_val(pending, later);
  }
  return report(g_array_index(found, Found, 0).stop);
}

static bool next_pending(Stop *stop) {
  while (pending->len) {
    const Found met = g_array_index(pending, Found, 0);
    g_array_remove_index(pending, 0);
    if (met.instant != here()) continue;
    const GHashTable *set = progress_of[met.stop.core - 1].breakpoints;
    if (met.stop.kind == STOP_BREAKPOINT && !g_hash_table_contains((GHashTable *)set, GUINT_TO_POINTER(met.pc)))
      continue;
    *stop = report(met.stop);
    return true;
  }
  return false;
}

// Processors that stand still for us go on.
void run_control_let_go(void) {
  bool any = false;
  for (guint i = 0; i < cores->len; i++) {
    Progress *progress = &progress_of[i];
    if (!progress->held) continue;
    core_set(&core_of(i + 1)->halt, progress->was_halted);
    progress->held = false;
    any = true;
  }
  if (any) run_control_change();
}

static Stop ended(Outcome outcome) {
  Stop stop = {.kind = outcome == ENDED ? STOP_OVER : STOP_FAILED};
  uint32_t pc;
  for (guint i = 1; i <= cores->len && outcome == FAILED; i++) {
    if (!fails(i, &pc)) continue;
    const gpointer kind = g_hash_table_lookup(progress_of[i - 1].breakpoints, GUINT_TO_POINTER(pc));
    know_pc(i, pc);
    stop.core = i;
    if (kind && retired(i) != progress_of[i - 1].reported)
      return report((Stop){STOP_BREAKPOINT, .core = i, .hardware = GPOINTER_TO_UINT(kind) == 2});
  }
  end_at = here();
  return stop;
}

// Back to before the instant in which something retired; what only changed has then changed already.
static Stop stop_at(const GArray *found, uint64_t before) {
  bool retires = false;
  for (guint i = 0; i < found->len; i++) retires |= g_array_index(found, Found, i).stop.kind != STOP_WATCHPOINT;
  if (retires) go_to(before);
  return deliver(found);
}

// The first that the stepped one retires is the instruction that is stepped.
static bool drop_step(GArray *found) {
  for (guint i = 0; i < found->len; i++) {
    if (g_array_index(found, Found, i).stop.kind != STOP_STEPPED) continue;
    g_array_remove_index(found, i);
    return true;
  }
  return false;
}

// What another processor met while only one is heeded.
static void drop_others(GArray *found, guint core, StopScope scope) {
  for (guint i = found->len; i-- > 0;) {
    const Found met = g_array_index(found, Found, i);
    if (met.stop.core == core) continue;
    if (scope == STOPS_OF_ONE_FIRST && !deferred.stop.core) deferred = met;
    g_array_remove_index(found, i);
  }
}

// What was met while only one was heeded, where it was met.
static bool go_back_to_deferred(Stop *stop) {
  const Found met = deferred;
  deferred = (Found){0};
  if (!met.stop.core) return false;
  if (met.instant < here()) {
    go_to(met.instant);
    if (met.stop.kind == STOP_WATCHPOINT) step(true);
  }
  if (met.stop.kind != STOP_WATCHPOINT) know_pc(met.stop.core, met.pc);
  *stop = report(met.stop);
  return true;
}

Stop run_control_forward(guint core, bool stepped, StopScope scope) {
  Stop stop;
  if (scope != STOPS_OF_ONE_FIRST && go_back_to_deferred(&stop)) return stop;
  if (scope == STOPS_OF_ALL && next_pending(&stop)) return stop;
  run_control_let_go();
  history_mark();
  const bool one_instant = stepped || looks();
  see();
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Found));
  bool first = true; // of the stepped processor: its instruction is not over
  for (uint64_t count = 1;; count++) {
    const uint64_t before = here();
    const Outcome outcome = step(one_instant);
    if (outcome != STEPPED) return ended(outcome);
    if (here() - history_marked() >= FAR * period) history_mark();
    if (count % POLL_EVERY == 0 && poll_request()) return (Stop){.kind = STOP_REQUESTED};
    if (!one_instant) continue;
    collect(before, stepped ? core : 0, found);
    if (scope != STOPS_OF_ALL) drop_others(found, core, scope);
    if (first && drop_step(found)) first = false;
    if (found->len) return stop_at(found, before);
    if (until && until()) return (Stop){.kind = STOP_CONDITION};
    if (stepped && count > STEP_LIMIT) return report((Stop){.kind = STOP_STEPPED, .core = core});
  }
}

Stop run_control_backward(guint core, bool stepped) {
  g_array_set_size(pending, 0);
  deferred = (Found){0};
  run_control_let_go();
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Found));
  for (guint i = 0; i < cores->len; i++) progress_of[i].reported = UINT64_MAX;
  for (uint64_t end = here();;) {
    if (end == 0 || !history_back(end - 1)) {
      history_back(end);
      return (Stop){.kind = STOP_BEGINNING, .core = core};
    }
    const uint64_t start = here();
    uint64_t last = UINT64_MAX;
    g_autoptr(GArray) met = g_array_new(FALSE, FALSE, sizeof(Found));
    see();
    bool held = until && until();
    while (here() < end) {
      const uint64_t before = here();
      if (step(true) != STEPPED) break;
      mark_near();
      g_array_set_size(met, 0);
      collect(before, stepped ? core : 0, met);
      const bool holds = until && until();
      if (met->len || (held && !holds)) {
        last = before;
        g_array_set_size(found, 0);
        g_array_append_vals(found, met->data, met->len);
      }
      held = holds;
    }
    if (last != UINT64_MAX) {
      go_to(last);
      return found->len ? deliver(found) : (Stop){.kind = STOP_CONDITION};
    }
    end = start;
    if (poll_request()) {
      go_to(start);
      return (Stop){.kind = STOP_REQUESTED};
    }
  }
}

const char *run_control_why(void) {
  return over ? over : failure;
}

bool run_control_is_at_end(void) {
  return end_at == here();
}

const char *run_control_end(void) {
  const char *why = over;
  run_control_leave();
  while (!why) { // the instant that fails is done again
    if (!spinach_advancing.active && (why = spinach_run_begin())) break;
    spinach_advance_step(true);
  }
  return why;
}

void run_control_change(void) {
  history_restart();
  spinach_streams_diverge();
  spinach_machine_table.wake();
  for (guint i = 0; i < cores->len; i++) progress_of[i].pc_at = UINT64_MAX;
  end_at = UINT64_MAX;
  deferred.instant = UINT64_MAX; // nobody can go back to it
}

void run_control_leave(void) {
  run_control_let_go();
  history_end();
}

// ---- What is next ---------------------------------------------------------------------------------------------------

// The address of the instruction that it retires next.
static uint32_t next_pc(guint number) {
  Progress *progress = &progress_of[number - 1];
  const Core *core = core_of(number);
  const uint64_t now = here();
  if (progress->drained_at == now) return (uint32_t)core_get(&core->fetch_pc);
  if (progress->pc_at == now) return progress->pc;
  history_mark();
  const uint64_t before = retired(number);
  // If it never retires one: that which it would fetch, or the one after the last.
  const bool stands = core->fetch_pc.at && (!before || (!core_get(&core->in_flight) && !core_get(&core->fetching)));
  uint32_t pc = stands ? (uint32_t)core_get(&core->fetch_pc) : (uint32_t)core_get(&core->pc) + 4;
  const char *why = over;
  Outcome outcome = STEPPED;
  for (uint32_t i = 0; i < LOOK_AHEAD && retired(number) == before && outcome == STEPPED; i++) outcome = step(true);
  if (retired(number) != before) pc = (uint32_t)core_get(&core->pc);
  uint32_t failed;
  if (outcome == FAILED && fails(number, &failed)) pc = failed;
  history_back(now);
  over = why;
  know_pc(number, pc);
  return pc;
}

uint32_t run_control_pc(guint number) {
  const Core *core = core_of(number);
  const uint32_t pc = next_pc(number), last = (uint32_t)core_get(&core->pc);
  return retired(number) && core_in_delay_slot(core, last, pc) ? last : pc;
}

// ---- Standing still
// ---------------------------------------------------------------------------------------------------

static bool is_empty(const Core *core) {
  return !core_get(&core->in_flight) && !core_get(&core->fetching) && core_writes_are_done(core);
}

// From here the processor fetches nothing more: whether it then stands still with `count` instructions retired.
static bool stands_still(guint number, uint64_t count) {
  const Core *core = core_of(number);
  core_set(&core->halt, true);
  spinach_machine_table.wake();
  for (uint32_t i = 0; i < LOOK_AHEAD && retired(number) <= count && !is_empty(core); i++)
    if (step(true) != STEPPED) return false;
  return retired(number) == count && is_empty(core);
}

bool run_control_drain(guint number, const char **error) {
  const Core *core = core_of(number);
  Progress *progress = &progress_of[number - 1];
  if (progress->held && progress->drained_at == here()) return true;
  *error = "the debug view of this processor does not say how its pipeline is emptied (docs/language.md)";
  if (!core->halt.at || !core->in_flight.at || !core->fetching.at || !core->fetch_pc.at) return false;
  const uint64_t now = here(), count = retired(number);
  const bool halted = core_get(&core->halt);
  g_autoptr(GArray) instants = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint64_t start = now; instants->len < DEEPEST && start && history_back(start - 1);) { // the latest of the past
    start = here();
    g_autoptr(GArray) stretch = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t end = instants->len ? g_array_index(instants, uint64_t, 0) : now;
    for (uint64_t at = here(); at < end && step(true) == STEPPED; at = here()) {
      g_array_append_val(stretch, at);
      mark_near();
    }
    g_array_prepend_vals(instants, stretch->data, stretch->len);
  }
  go_to(now);
  history_mark();
  *error = "the pipeline cannot be emptied before this instruction: go on by an instruction, and try again";
  if (halted) g_array_set_size(instants, 0); // it stands still already, or soon
  for (guint back = 0; back <= instants->len && back < DEEPEST; back++) {
    const uint64_t at = back ? g_array_index(instants, uint64_t, instants->len - back) : now;
    go_to(at);
    history_mark();
    if (stands_still(number, count)) {
      progress->held = true;
      progress->was_halted = halted;
      progress->drained_at = here();
      progress->reported = count;
      run_control_change();
      return true;
    }
    const bool too_early = retired(number) < count;
    history_back(at);
    if (too_early) break;
  }
  go_to(now);
  return false;
}

void run_control_set_pc(guint number, uint32_t pc) {
  const Core *core = core_of(number);
  core_set(&core->fetch_pc, pc);
  core_set(&core->pc_set, true);
  core_set(&core->branch_pending, false);
  progress_of[number - 1].reported = UINT64_MAX;
}

// ---- What was set ---------------------------------------------------------------------------------------------------

bool run_control_break(guint core, uint32_t address, bool hardware, bool set) {
  if (core < 1 || core > cores->len) return false;
  GHashTable *all = progress_of[core - 1].breakpoints;
  if (set)
    g_hash_table_insert(all, GUINT_TO_POINTER(address), GUINT_TO_POINTER(hardware ? 2 : 1));
  else
    g_hash_table_remove(all, GUINT_TO_POINTER(address));
  return true;
}

bool run_control_watch(guint core, uint32_t address, uint32_t count, bool set) {
  if (core < 1 || core > cores->len || count < 1 || count > 64) return false;
  for (guint i = 0; i < watches->len; i++) {
    const Watch *watch = &g_array_index(watches, Watch, i);
    if (watch->core != core || watch->address != address || watch->count != count) continue;
    if (set) return true;
    g_free(watch->value);
    g_array_remove_index(watches, i);
    return true;
  }
  if (!set || !core_reaches(core_of(core), address, count)) return !set;
  const Watch watch = {core, address, count, g_malloc0(count)};
  g_array_append_val(watches, watch);
  return true;
}

void run_control_forget(guint core) {
  for (guint i = 0; i < cores->len; i++)
    if (!core || core == i + 1) g_hash_table_remove_all(progress_of[i].breakpoints);
  for (guint i = watches->len; i-- > 0;) {
    const Watch watch = g_array_index(watches, Watch, i);
    if (!core || watch.core == core) run_control_watch(watch.core, watch.address, watch.count, false);
  }
  if (!core) until = NULL;
}

void run_control_until(bool (*holds)(void)) {
  until = holds;
}

void run_control_begin(uint64_t history, bool (*requested)(void)) {
  cores = spinach_cores();
  progress_of = g_new0(Progress, cores->len + 1);
  for (guint i = 0; i < cores->len; i++) {
    progress_of[i].breakpoints = g_hash_table_new(NULL, NULL);
    progress_of[i].pc_at = progress_of[i].reported = progress_of[i].drained_at = UINT64_MAX;
  }
  watches = g_array_new(FALSE, FALSE, sizeof(Watch));
  pending = g_array_new(FALSE, FALSE, sizeof(Found));
  poll_request = requested;
  period = spinach_machine_table.clocks[spinach_fastest_clock()].period;
  history_begin(history, FAR * period);
}
