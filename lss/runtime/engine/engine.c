// The arena and the passing of time.
//
// The arena is one contiguous, page-aligned mapping that holds the state of all clusters one after the other.  Time is
// counted in ticks (clock.h).  At each instant every clock that is due does one step; since clocks touch each other
// only through crossings that compare instants, their order does not matter.
#include "lss/runtime/engine/clocks.h"
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/leap.h"
#include "lss/runtime/engine/machine.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CLUSTER_ALIGNMENT = 64, LOOK = 64 };
#define FEMTOSECONDS UINT64_C(1000000000000000) // in a second

struct spinach_time spinach_time;
struct spinach_hooks spinach_hooks = {.look_at = UINT64_MAX, .reach_again = UINT64_MAX};
uint64_t spinach_effects;
struct spinach_running spinach_running;
spinach_clockwork *spinach_passing;
uint8_t *spinach_arena;
uint64_t spinach_arena_size, spinach_seed;
const char *spinach_stop_reason = "";
int spinach_stopping, spinach_stop_status;
spinach_phase_of_run spinach_phase;

static const spinach_machine *const machine = &spinach_machine_table;
static uint32_t current;                 // instance whose init or finish runs
static uint64_t *cycles, *due, *periods; // per clock: cycles done, instant of the next, ticks between
static uint64_t first_instant;           // of this process: it is stepped, whatever anybody says
static uint64_t reached = UINT64_MAX;    // instants before it may be stepped: what comes before is in the state
static bool resting;                     // nothing can happen by itself: others are waited for
static uint64_t rests_since;             // the look that found that first
static uint64_t settles;                 // since all was idle, a clock has no cycle before it; 0: something was stepped
static spinach_reported *reports;
static uint32_t report_count;

// ---- Names ------------------------------------------------------------------------------------------------------

const char *spinach_path(uint32_t id) {
  if (id & SPINACH_CONNECTION_ID) return spinach_connection_path(id & ~SPINACH_CONNECTION_ID);
  return id < machine->instance_count ? machine->instances[id].path : "";
}

const char *spinach_connection_path(uint32_t id) {
  return id < machine->connection_count ? machine->connections[id].to : "";
}

void spinach_enter(uint32_t id) {
  const int32_t clock = machine->instances[id].clock;
  current = id;
  spinach_running = (struct spinach_running){id, spinach_phase == SPINACH_STARTS ? "init" : "finish"};
  spinach_time.cycle = cycles[clock];
  spinach_time.period = periods[clock];
}

uint32_t spinach_current(void) {
  return current;
}

static void leave_instances(void) {
  current = UINT32_MAX & ~SPINACH_CONNECTION_ID;
  spinach_running.function = NULL;
}

const char *spinach_current_path(void) {
  return spinach_path(current);
}

uint64_t ticks_per_second(void) {
  return machine->ticks_per_second;
}

// ---- Randomness ---------------------------------------------------------------------------------------------------

static struct {
  uint32_t id;
  uint64_t *rng;
} *seeded; // all that init functions seeded
static uint32_t seeded_count;

static void seed(uint32_t id, uint64_t *rng) {
  uint64_t hash = 0xcbf29ce484222325u ^ spinach_seed * 0x9e3779b97f4a7c15u;
  for (const char *c = spinach_path(id); *c; c++) hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
  *rng = hash;
  spinach_random_bits(rng);
}

void spinach_random_seed(uint32_t id, uint64_t *rng) {
  void *grown = spinach_phase == SPINACH_STARTS ? realloc(seeded, (seeded_count + 1) * sizeof *seeded) : NULL;
  if (grown) {
    seeded = grown;
    seeded[seeded_count].id = id;
    seeded[seeded_count++].rng = rng;
  }
  seed(id, rng);
}

void spinach_reseed(void) {
  for (uint32_t i = 0; i < seeded_count; i++) seed(seeded[i].id, seeded[i].rng);
}

// ---- Reports of collectors

void spinach_report(uint32_t id, bool gauge, const char *name, bool real, uint64_t integer, double number,
                    const char *unit, const char *const *words) {
  size_t length = 1;
  for (const char *const *w = words; *w; w++) length += strlen(*w);
  char *description = calloc(length, 1);
  spinach_reported *grown = realloc(reports, (report_count + 1) * sizeof *reports);
  if (!description || !grown) spinach_fail("out of memory");
  for (const char *const *w = words; *w; w++) strcat(description, *w);
  reports = grown;
  reports[report_count++] =
      (spinach_reported){spinach_path(id), strdup(name), strdup(unit), description, real, gauge, integer, number};
}

static void forget_reports(void) {
  for (uint32_t i = 0; i < report_count; i++) {
    free((char *)reports[i].name);
    free((char *)reports[i].unit);
    free(reports[i].description);
  }
  report_count = 0;
}

const spinach_reported *spinach_reports(uint32_t *count) {
  *count = report_count;
  return reports;
}

// The instant of the next edge of any clock.
static uint64_t earliest(void) {
  uint64_t first = due[0];
  for (uint32_t c = 1; c < machine->clock_count; c++)
    if (due[c] < first) first = due[c];
  return first;
}

// ---- The arena ------------------------------------------------------------------------------------------------------

static uint64_t aligned(uint64_t size) {
  return (size + CLUSTER_ALIGNMENT - 1) / CLUSTER_ALIGNMENT * CLUSTER_ALIGNMENT;
}

uint64_t spinach_clockwork_size(void) {
  return sizeof *spinach_passing + 2 * machine->clock_count * sizeof *spinach_passing->clocks;
}

void spinach_number_states(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_instance *instance = &machine->instances[i];
    if (instance->layout)
      *(uint32_t *)((uint8_t *)spinach_instance_state((int32_t)i) + instance->layout->id_offset) = i;
  }
  for (uint32_t i = 0; i < machine->parameter_count; i++) {
    const spinach_parameter *parameter = &machine->parameters[i];
    for (uint32_t k = 0; k < parameter->target_count && parameter->kind == SPINACH_PARAMETER_STRING; k++) {
      const spinach_target *target = &parameter->targets[k];
      uint8_t *state = spinach_instance_state(target->instance);
      *(spinach_text *)(void *)(state + target->offset) = target->text - target->offset;
    }
  }
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *connection = &machine->connections[i];
    if (connection->cluster >= 0)
      *(uint32_t *)((uint8_t *)spinach_cluster_state[connection->cluster] + connection->number_offset) = i;
  }
}

void spinach_arena_map(void) {
  uint64_t size = aligned(spinach_clockwork_size());
  for (uint32_t i = 0; i < machine->cluster_count; i++) size += aligned(machine->clusters[i].size);
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  spinach_arena_size = (size + page - 1) / page * page;
  // Pages that are never touched cost nothing.
  void *memory =
      mmap(NULL, spinach_arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) spinach_fail("no memory for %llu bytes of state", (unsigned long long)spinach_arena_size);
  spinach_arena = memory;
  spinach_passing = memory;
  cycles = spinach_passing->clocks;
  due = cycles + machine->clock_count;
  size = aligned(spinach_clockwork_size());
  for (uint32_t i = 0; i < machine->cluster_count; i++) {
    spinach_cluster_state[i] = spinach_arena + size;
    size += aligned(machine->clusters[i].size);
  }
  spinach_number_states();
}

void *spinach_instance_state(int32_t instance) {
  const spinach_instance *i = &machine->instances[instance];
  return i->layout ? (uint8_t *)spinach_cluster_state[i->cluster] + i->offset : NULL;
}

// Counts the cycles that were over before the present instant: those who step the machine keep the counts to
// themselves.
void spinach_complete_clocks(void) {
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    cycles[i] = spinach_cycle_from(&machine->clocks[i], machine->ticks_per_second, spinach_time.now);
    due[i] = spinach_instant_of((int32_t)i, cycles[i]);
  }
}

int32_t spinach_wrong_clock(void) {
  const uint64_t first = earliest();
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    const uint64_t done = spinach_cycle_from(&machine->clocks[i], machine->ticks_per_second, first);
    if (cycles[i] != done || due[i] != spinach_instant_of((int32_t)i, done)) return (int32_t)i;
  }
  return -1;
}

void spinach_start(void) {
  periods = calloc(machine->clock_count + 1, sizeof *periods);
  if (!periods) spinach_fail("out of memory");
  for (uint32_t i = 0; i < machine->clock_count; i++) periods[i] = machine->clocks[i].period;
  spinach_time = (struct spinach_time){0, 0, machine->clocks[0].period};
  machine->join();
  machine->shared_start();
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    if (machine->clusters[i].start) machine->clusters[i].start(spinach_cluster_state[i]);
  spinach_phase = SPINACH_RUNS;
  leave_instances();
}

void spinach_resume(void) {
  first_instant = earliest();
  spinach_time = (struct spinach_time){.now = first_instant, .period = machine->clocks[0].period};
}

void spinach_parameter_reset(const spinach_parameter *parameter) {
  const spinach_phase_of_run before = spinach_phase;
  spinach_phase = SPINACH_STARTS; // a value that is refused now is refused as at the start
  for (uint32_t i = 0; i < parameter->target_count; i++) {
    const spinach_target *target = &parameter->targets[i];
    const int32_t cluster = machine->instances[target->instance].cluster;
    machine->clusters[cluster].reset(spinach_cluster_state[cluster], target->instance, target->offset);
  }
  spinach_phase = before;
  spinach_leap_reset();
  leave_instances();
}

static void work_out_statistics(void) {
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    if (machine->clusters[i].statistics) machine->clusters[i].statistics(spinach_cluster_state[i]);
}

void spinach_work_out_statistics(int32_t instance) {
  const int32_t only = instance < 0 ? -1 : machine->instances[instance].cluster;
  for (int32_t i = 0; i < (int32_t)machine->cluster_count; i++)
    if (machine->clusters[i].statistics && (only < 0 || i == only))
      machine->clusters[i].statistics(spinach_cluster_state[i]);
  leave_instances();
}

static void ask_collectors(void) {
  forget_reports();
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    if (machine->clusters[i].report) machine->clusters[i].report(spinach_cluster_state[i]);
  machine->shared_report();
  leave_instances();
}

void spinach_update_statistics(void) {
  work_out_statistics();
  ask_collectors();
}

void spinach_finish(void) {
  work_out_statistics();
  spinach_phase = SPINACH_FINISHES;
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    if (machine->clusters[i].finish) machine->clusters[i].finish(spinach_cluster_state[i]);
  ask_collectors();
  spinach_phase = SPINACH_OVER;
}

// ---- Time -----------------------------------------------------------------------------------------------------------

uint64_t spinach_last_instant(void) {
  const unsigned __int128 most = (unsigned __int128)machine->ticks_per_second * SPINACH_MOST_SECONDS;
  return most < SPINACH_LAST_INSTANT ? (uint64_t)most : SPINACH_LAST_INSTANT;
}

uint64_t spinach_instant_of(int32_t clock, uint64_t cycle) {
  return spinach_cycle_begins(&machine->clocks[clock], machine->ticks_per_second, cycle);
}

unsigned __int128 spinach_fs_of(uint64_t instant) {
  const uint64_t ticks = machine->ticks_per_second;
  return (unsigned __int128)(instant / ticks) * FEMTOSECONDS +
         (unsigned __int128)(instant % ticks) * FEMTOSECONDS / ticks;
}

unsigned __int128 spinach_now_fs(void) {
  return spinach_fs_of(spinach_time.now);
}

uint64_t spinach_ns_of(uint64_t instant) {
  return (uint64_t)((unsigned __int128)instant * 1000000000u / machine->ticks_per_second);
}
uint64_t spinach_now_ns(void) {
  return spinach_ns_of(spinach_time.now);
}
uint64_t spinach_skipped(void) {
  return spinach_passing->skipped;
}
uint64_t spinach_cycles(int32_t clock) {
  return cycles[clock];
}

int32_t spinach_fastest_clock(void) {
  int32_t fastest = 0;
  for (uint32_t i = 1; i < machine->clock_count; i++)
    if (machine->clocks[i].period < machine->clocks[fastest].period) fastest = (int32_t)i;
  return fastest;
}

// The first instant at which something may happen by itself; 0 when that is immediately, UINT64_MAX when nothing ever
// will.  What would happen after the last instant is taken to come then: it is not nothing.  To skip a few cycles until
// the next of a slower clock costs more than to step them.
//
// Who `said` something is not asked again.
static uint64_t first_instant_but(spinach_said said) {
  const uint64_t now = earliest(), period = periods[spinach_fastest_clock()];
  uint64_t target = UINT64_MAX;
  spinach_running.function = NULL;
  for (uint32_t i = 0; i < machine->speaker_count; i++) {
    const spinach_skipper *s = &machine->skippers[i];
    const spinach_clock *clock = &machine->clocks[s->clock];
    spinach_time.cycle = cycles[s->clock];
    spinach_time.now = due[s->clock];
    spinach_time.period = clock->period;
    uint64_t first = s->next_event == said.by   ? said.first
                     : spinach_hooks.next_event ? spinach_hooks.next_event(s->cluster, s->next_event)
                                                : s->next_event(spinach_cluster_state[s->cluster]);
    if (first == UINT64_MAX) continue;
    const uint64_t instant = first > cycles[s->clock] ? spinach_instant_of(s->clock, first) : due[s->clock];
    if (first <= cycles[s->clock] && (instant - now) / LOOK <= period) return 0;
    if (instant < target) target = instant;
    if (target == UINT64_MAX) target = spinach_last_instant();
  }
  return target;
}

// A machine in which anything waits is not at rest: idle time that counts as skipped does not depend on how it is built
// and watched, and what only waits is left out on the way (leap.h).
static uint64_t next_instant(void) {
  spinach_leaping.waiting = 0;
  const uint64_t next = first_instant_but((spinach_said){0});
  spinach_leaping.waiting = SPINACH_WAITING;
  return next;
}

// Every clock skips its ticks before `target`.
static void leave_out(uint64_t target) {
  for (uint32_t c = 0; c < machine->clock_count; c++) {
    const spinach_clock *clock = &machine->clocks[c];
    if (due[c] >= target) continue;
    const uint64_t n = clock->rounded ? spinach_cycle_from(clock, machine->ticks_per_second, target) - cycles[c]
                                      : (target - due[c] - 1) / clock->period + 1;
    spinach_time.cycle = cycles[c];
    spinach_time.period = clock->period;
    for (uint32_t i = 0; i < machine->skipper_count; i++)
      if (machine->skippers[i].clock == (int32_t)c)
        machine->skippers[i].skip(spinach_cluster_state[machine->skippers[i].cluster], n);
    cycles[c] += n;
    due[c] = clock->rounded ? spinach_instant_of((int32_t)c, cycles[c]) : due[c] + n * clock->period;
  }
}

// A module may fork the run: the new process, which returns from there as well, goes on by itself.
static void step_machine(int32_t clock, uint64_t end, uint64_t until) {
  const bool tracked = spinach_hooks.tracked && !spinach_hooks.before_instant;
  (tracked ? machine->watch : machine->run)(cycles, due, periods, clock, end, until);
  if (spinach_hooks.go_on) spinach_hooks.go_on();
}

// Steps the machine until `clock` has done `end` cycles or now() reaches `until`.
static void run(int32_t clock, uint64_t end, uint64_t until) {
  if (!spinach_hooks.before_instant) {
    step_machine(clock, end, until);
    return;
  }
  while (!spinach_stopping && cycles[clock] < end && earliest() < until) {
    const uint64_t instant = earliest();
    spinach_hooks.before_instant(instant, due, true);
    step_machine(clock, UINT64_MAX, instant + 1);
    spinach_hooks.after_instant();
  }
}

// Steps what would be left out, some cycles at a time: nothing may happen but what is accounted for.
static void check_left_out(uint64_t target, int32_t fastest) {
  uint64_t before[machine->clock_count];
  while (earliest() < target && !spinach_stopping) {
    spinach_hooks.before_skipped();
    memcpy(before, cycles, sizeof before);
    const uint64_t end = earliest() + spinach_hooks.skipped_after * periods[fastest] + 1;
    run(fastest, UINT64_MAX, end < target ? end : target);
    spinach_hooks.after_skipped(before);
  }
}

// Leaves out idle time before `target`; a wave shows it.
static void jump(uint64_t target, int32_t fastest) {
  if (spinach_hooks.leave) spinach_hooks.leave();
  if (spinach_hooks.before_skipped) {
    check_left_out(target, fastest);
    return;
  }
  if (!spinach_hooks.before_instant) leave_out(target);
  while (earliest() < target && !spinach_stopping) {
    spinach_hooks.before_instant(earliest(), due, false);
    leave_out(earliest() + 1);
  }
}

// Every clock skips its ticks before `target`, but for the first.  What was sent in the last cycle of a clock may be
// gone in the next, and something else come through in its place, so that one is stepped, and it is asked again after
// it: it counts as skipped all the same.  Returns whether there was idle time.
static bool pass(uint64_t target, int32_t fastest) {
  if (earliest() >= target) return false;
  const uint64_t begin = cycles[fastest];
  uint64_t first[machine->clock_count];
  memcpy(first, due, sizeof first);
  while (earliest() < target && !spinach_stopping) {
    uint64_t step = UINT64_MAX;
    for (uint32_t c = 0; c < machine->clock_count; c++)
      if (due[c] == first[c] && due[c] < step) step = due[c];
    if (step > earliest()) {
      jump(step < target ? step : target, fastest);
      continue;
    }
    run(fastest, UINT64_MAX, step + 1);
    const uint64_t next = next_instant();
    if (next < target) target = next;
  }
  spinach_passing->skipped += cycles[fastest] - begin;
  settles = UINT64_MAX;
  for (uint32_t c = 0; c < machine->clock_count; c++)
    if (due[c] == first[c] && due[c] < settles) settles = due[c];
  return true;
}

// The instant at which the cycle of a clock begins that comes `n` cycles after its next.
static uint64_t instant_after(int32_t clock, uint64_t n) {
  return n < UINT64_MAX - cycles[clock] ? spinach_instant_of(clock, cycles[clock] + n) : UINT64_MAX;
}

// ---- Leaving out cycles in which everything waits (leap.h)

const spinach_saying spinach_next_event_context;
struct spinach_leaping spinach_leaping = {.pause = 1, .waiting = SPINACH_WAITING};

// Debug builds step everything, so that they show what a module says wrongly, and where clusters are replayed each leap
// would end that.
static bool leaps(void) {
  return (!machine->debug || spinach_hooks.before_skipped) && !spinach_hooks.before_instant && !spinach_hooks.leave &&
         !spinach_hooks.each_cycle;
}

// What the cycles do is noted from now on; what the last ones did is not known.
static void watch(void) {
  const uint32_t clocks = machine->clock_count;
  if (!spinach_leaping.copies) {
    uint8_t *memory =
        mmap(NULL, spinach_arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) spinach_fail("no memory for a copy of the state");
    spinach_leaping.copies = memory - spinach_arena;
  }
  spinach_leaping.moved = clocks < 64 ? (UINT64_C(1) << clocks) - 1 : UINT64_MAX;
  spinach_leaping.kept = 0;
  spinach_leaping.missed = 0;
  spinach_leaping.watches = true;
  for (const spinach_sleeping *s = machine->sleeping; s->gate; s++) s->gate->due = 0;
}

// How far nothing changes: up to the next cycle of a clock whose last cycle changed something, or may have.
static uint64_t rests_until(void) {
  uint64_t first = UINT64_MAX;
  for (uint32_t c = 0; spinach_leaping.moved && c < machine->clock_count; c++)
    if ((spinach_leaping.moved >> c % 64 & 1) && due[c] < first) first = due[c];
  return first;
}

// Leaves out cycles up to the target, but not beyond where a run ends that stops at `until`, or when `clock` has done
// `end` cycles.
static void leap(int32_t clock, uint64_t end, uint64_t until) {
  const int32_t fastest = spinach_fastest_clock();
  const uint64_t last = spinach_instant_of(clock, end - 1) + 1, limit = last < until ? last : until,
                 target = spinach_leaping.target < limit ? spinach_leaping.target : limit;
  if (!spinach_hooks.before_skipped) {
    leave_out(target);
    return;
  }
  spinach_leaping.checks = true;
  check_left_out(target, fastest);
  spinach_leaping.checks = false;
}

void spinach_leap(spinach_said said, int clock, uint64_t end, uint64_t until) {
  const uint64_t rest = rests_until(), now = earliest();
  spinach_leaping.pause = leaps() ? 1 : UINT64_MAX;
  if (!leaps() || spinach_leaping.checks || spinach_stopping) return;
  const uint64_t target = rest > now ? first_instant_but(said) : 0;
  if (target <= now) {
    spinach_leap_refused();
    return;
  }
  spinach_leaping.missed = 0;
  if (!spinach_leaping.watches) {
    watch();
    return;
  }
  spinach_leaping.target = target < rest ? target : rest;
  leap(clock, end, until);
  if (!spinach_leaping.waits) spinach_leaping.target = 0; // idle time is looked for as ever
}

// Whether a leap goes on from here.  Something waits then.
static bool is_leaping(void) {
  return spinach_leaping.target > earliest() && leaps();
}

void spinach_leap_reset(void) {
  spinach_leaping.watches = false;
  spinach_leaping.moved = spinach_leaping.target = 0;
  spinach_leaping.pause = 1;
}

// The first look from an instant on, at which all parts of a network look, whatever clocks they have.
static uint64_t common_look(uint64_t instant) {
  uint32_t count;
  const spinach_clock *fastest = &spinach_clocks(&count)[spinach_fastest_of_clocks()];
  const uint64_t cycle = spinach_cycles_from(fastest, instant), past = cycle % LOOK;
  return spinach_cycle_begins(fastest, machine->ticks_per_second, past ? cycle + LOOK - past : cycle);
}

// Whether it is looked now for something left to do: before each LOOK-th cycle of the fastest clock, so that a run ends
// in the same cycle however it was built and is watched.
static bool is_time_to_look(int32_t fastest) {
  if (spinach_advancing.rests) return machine->skipper_count && common_look(spinach_stepped_until()) <= earliest();
  return machine->skipper_count && cycles[fastest] % LOOK == 0 && earliest() == due[fastest];
}

static uint64_t next_look(int32_t fastest) {
  if (spinach_advancing.rests) return common_look(earliest() + 1);
  const uint64_t past = cycles[fastest] % LOOK;
  return instant_after(fastest, past || is_time_to_look(fastest) ? LOOK - past : 0);
}

struct spinach_advancing spinach_advancing;

// Nothing can happen by itself, as is found at a look.  Returns whether that was known.
static bool rest(void) {
  const bool known = resting;
  if (!known) rests_since = common_look(spinach_stepped_until());
  resting = true;
  return known;
}

bool spinach_is_resting(uint64_t *since) {
  if (resting) *since = rests_since;
  return resting;
}

bool spinach_rests_before(uint64_t instant) {
  if (resting || !spinach_advancing.rests || !machine->skipper_count || earliest() <= first_instant) return resting;
  if (common_look(spinach_stepped_until()) < instant && spinach_nothing_is_due()) rest();
  return resting;
}

void spinach_advance_begin(int32_t clock, uint64_t cycle_limit, uint64_t until, struct spinach_slice slice,
                           bool endless) {
  const uint64_t most = cycle_limit - cycles[clock];
  spinach_advancing = (struct spinach_advancing){
      .clock = clock,
      .end = slice.cycles < most ? cycles[clock] + slice.cycles : cycle_limit,
      .loops_end = slice.in_loops < most ? cycles[clock] + slice.in_loops : cycle_limit,
      .until = until < spinach_last_instant() ? until : spinach_last_instant(),
      .quiet = 1,
      .endless = endless && !machine->part,
      .rests = endless && machine->part,
      .active = true,
  };
}

void spinach_advance_begin_step(const uint64_t *until, bool endless) {
  spinach_advancing = (struct spinach_advancing){
      .endless = endless && !machine->part, .rests = endless && machine->part, .active = true, .one_instant = true};
  if (until) spinach_advancing.until = *until < spinach_last_instant() ? *until : spinach_last_instant();
}

void spinach_advance_each(void) {
  struct spinach_advancing *a = &spinach_advancing;
  const uint64_t next = earliest() + 1;
  a->until = a->one_instant ? 0 : next < a->until ? next : a->until;
}

// Whether idle time was skipped.  Where there is none it is not looked for in each of the instants that follow.
static bool skip_to_next(struct spinach_advancing *a, int32_t fastest) {
  static uint32_t quiet, rest;
  if (!machine->jumps || !machine->skipper_count || spinach_hooks.each_cycle || earliest() <= first_instant)
    return false;
  if (rest && rest--) return false;
  const uint64_t target = next_instant();
  // Where nothing is left, the run ends at the next look for it.
  const uint64_t end = target == UINT64_MAX && (a->endless || a->rests) ? next_look(fastest) : target;
  const uint64_t until = a->until < reached ? a->until : reached;
  const bool passed = pass(end < until ? end : until, fastest);
  quiet = passed ? 0 : quiet < LOOK ? quiet * 2 + 1 : LOOK;
  rest = quiet;
  return passed;
}

static void look_for_end(struct spinach_advancing *a, int32_t fastest) {
  if (is_time_to_look(fastest)) spinach_passing->idle = next_instant() == UINT64_MAX;
  a->nothing_left = spinach_passing->idle && a->endless;
  resting = resting && spinach_passing->idle;
  if (a->rests && spinach_passing->idle && is_time_to_look(fastest)) rest();
}

static void step_instant(struct spinach_advancing *a) {
  const int32_t fastest = spinach_fastest_clock();
  a->active = false;
  if (a->until && skip_to_next(a, fastest)) {
    look_for_end(a, fastest);
    return;
  }
  if (spinach_hooks.before_step) spinach_hooks.before_step(cycles, due, earliest());
  settles = 0;
  run(fastest, UINT64_MAX, earliest() + 1);
  if (spinach_hooks.after_step) spinach_hooks.after_step();
  look_for_end(a, fastest);
}

// Decides how far to step without another look at whether somebody has anything to do.  False: nothing is to be stepped
// now, since idle time was skipped, or the end was reached.
static bool choose_piece(struct spinach_advancing *a) {
  const int32_t fastest = spinach_fastest_clock();
  const bool tracing = spinach_hooks.each_cycle, jumps = machine->jumps && !tracing;
  a->active = !spinach_stopping && cycles[a->clock] < a->end && earliest() < a->until;
  if (!a->active) return false;
  a->stop = tracing ? cycles[a->clock] + 1 : a->end;
  a->before = a->until;
  if (earliest() > first_instant && (is_time_to_look(fastest) || (machine->skipper_count && jumps))) {
    uint64_t target = is_leaping() ? 0 : next_instant();
    spinach_passing->idle = target == UINT64_MAX;
    a->nothing_left = spinach_passing->idle && a->endless && is_time_to_look(fastest);
    a->active = !a->nothing_left;
    if (a->nothing_left) return false;
    resting = resting && spinach_passing->idle;
    if (a->rests && spinach_passing->idle && is_time_to_look(fastest)) {
      if (!rest()) return false; // it goes on when something has come, or all end
    } else if (spinach_passing->idle && (a->endless || a->rests)) {
      target = next_look(fastest);
    }
    // The jump must not go beyond the tick at which the run ends.
    // Skipping takes no time, so it goes as far as leaving out loops does.
    // The last cycle is over then, and nothing after it: so a run ends where it would end stepped.
    const uint64_t last = instant_after(a->clock, a->loops_end - cycles[a->clock] - 1);
    uint64_t limit = last < a->until ? last + 1 : a->until;
    if (reached < limit) limit = reached;
    if (jumps && pass(target < limit ? target : limit, fastest)) {
      a->quiet = 1;
      return false;
    }
    a->quiet = a->quiet < LOOK ? a->quiet * 2 : LOOK;
    if (jumps && a->end - cycles[a->clock] > a->quiet) a->stop = cycles[a->clock] + a->quiet;
  }
  if (machine->skipper_count && next_look(fastest) < a->before) a->before = next_look(fastest);
  return true;
}

// Where the machine may be in a loop: many at once are left out, as far as nothing bounds the advance.
static void leave_out_loops(struct spinach_advancing *a) {
  const int32_t fastest = spinach_fastest_clock();
  const uint64_t now = earliest();
  uint64_t limit = instant_after(a->clock, a->loops_end - cycles[a->clock] - 1);
  if (a->until < limit) limit = a->until;
  // Where it is looked for idle time does not depend on what is left out.
  if (machine->skipper_count && machine->jumps && a->quiet < LOOK) limit = now;
  // A loop that nothing ends is reported, unless something bounds the run.
  bool endless = a->endless;
  const uint64_t ticks = spinach_hooks.take_on(now, limit, &endless);
  if (endless) a->active = false;
  if (!ticks) return;
  for (uint32_t c = 0; c < machine->clock_count; c++) {
    cycles[c] += ticks / periods[c];
    due[c] += ticks;
  }
  spinach_leap_reset();
  a->stop = a->end;
  a->before = a->until;
  if (machine->skipper_count && next_look(fastest) < a->before) a->before = next_look(fastest);
  a->within = cycles[a->clock] < a->end && earliest() < a->before && !is_time_to_look(fastest);
}

// In the simulator of a part, whose instants others bound: whether the next one may be stepped, which is waited for.
// Where the advance ends, nothing is.
static bool is_reached(const struct spinach_advancing *a) {
  const uint64_t now = earliest();
  if (!a->one_instant && (now >= a->until || cycles[a->clock] >= a->end)) return true;
  reached = spinach_hooks.reach(now);
  return reached > now;
}

void spinach_advance_step(bool one_instant) {
  struct spinach_advancing *a = &spinach_advancing;
  if (spinach_hooks.reach && !is_reached(a)) {
    a->active = false;
  } else if (a->one_instant) {
    step_instant(a);
  } else if (a->within || choose_piece(a)) {
    if (spinach_hooks.look_at < earliest()) spinach_hooks.forget();
    const uint64_t next = one_instant ? earliest() + 1 : spinach_hooks.look_at;
    const uint64_t bound = next < a->before ? next : a->before, until = bound < reached ? bound : reached;
    if (!one_instant && is_leaping()) leap(a->clock, a->stop, until);
    settles = 0;
    run(a->clock, a->stop, until < spinach_hooks.reach_again ? until : spinach_hooks.reach_again);
    a->within = !spinach_stopping && cycles[a->clock] < a->stop && earliest() < a->before;
    if (!one_instant && !spinach_stopping && cycles[a->clock] < a->end && earliest() == spinach_hooks.look_at)
      leave_out_loops(a);
  }
  spinach_time.now = earliest(); // where the run would continue
  if ((one_instant || !a->active) && spinach_hooks.synchronize) spinach_hooks.synchronize();
  if ((one_instant || !a->active) && spinach_hooks.after_advance) spinach_hooks.after_advance();
}

struct spinach_moment spinach_now(void) {
  return (struct spinach_moment){spinach_advancing, spinach_stopping, spinach_stop_status, spinach_stop_reason,
                                 spinach_hooks.came};
}

void spinach_rewind(const struct spinach_moment *moment) {
  spinach_advancing = moment->advancing;
  spinach_stopping = moment->stopping;
  spinach_stop_status = moment->stop_status;
  spinach_stop_reason = moment->stop_reason;
  spinach_time.now = earliest();
  spinach_running.function = NULL;
  resting = false;
  machine->wake();
  if (spinach_hooks.go_back) spinach_hooks.go_back(moment->came);
}

uint64_t spinach_next_instant(void) {
  return earliest();
}

uint64_t spinach_stepped_until(void) {
  uint64_t until = 0;
  for (uint32_t c = 0; c < machine->clock_count; c++) {
    const uint64_t behind = cycles[c] ? spinach_instant_of((int32_t)c, cycles[c] - 1) + 1 : 0;
    if (behind > until) until = behind;
  }
  return until;
}

// What was sent in the last cycle of a clock may still have an effect in its next (pass()).
uint64_t spinach_reach_on(uint64_t now, uint64_t own) {
  if (reached < own && spinach_hooks.reach_on) reached = spinach_hooks.reach_on(now, own);
  return reached;
}

uint64_t spinach_own_instant(void) {
  const uint64_t now = earliest(), until = spinach_advancing.until,
                 repeats = spinach_hooks.repeats_until ? spinach_hooks.repeats_until() : 0;
  uint64_t own = repeats;
  if (resting) return UINT64_MAX;
  if (own <= now) {
    if (!machine->jumps || !machine->skipper_count || spinach_hooks.each_cycle || now <= first_instant) return now;
    const struct spinach_time before = spinach_time;
    own = next_instant();
    spinach_time = before;
    if (settles < own) own = settles;
    if (own == UINT64_MAX && spinach_advancing.rests) own = next_look(spinach_fastest_clock());
  }
  if (until && until < own && !spinach_advancing.rests) own = until; // which ends the run
  return own > now ? own : now;
}

void spinach_expect(uint64_t instant) {
  if (spinach_hooks.comes) spinach_hooks.comes(instant);
  if (spinach_leaping.target > instant) spinach_leaping.target = instant;
  resting = false;
}

bool spinach_nothing_is_due(void) {
  const struct spinach_time before = spinach_time;
  const bool nothing = next_instant() == UINT64_MAX;
  spinach_time = before;
  return nothing;
}
