// When a machine is tracked for loops, how two states are compared, and how it is taken on by many loops; see
// repeats.h.
#include "lss/runtime/replay/repeats.h"

#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/observe/standstill.h"
#include "lss/runtime/replay/check.h"
#include "lss/runtime/replay/loop_state.h"

enum {
  MOST_POINTS = 512,     // common edges of all clocks in which a loop is looked for
  MOST_MULTIPLES = 64,   // a loop of the processors is at most so often in one of the machine
  LEAST_REST = 2,        // points between attempts, after one that paid
  MOST_REST = 1 << 16,   // and after many in vain
  MOST_COMMON = 1 << 16, // cycles of the fastest clock between two points
  LOOPS_AHEAD = 8,       // so many fit before what comes, or none is looked for
};

typedef enum {
  RESTS,   // until the next attempt
  SEEKS,   // nodes are hashed, until a hash was there before
  FIRST,   // after a state was kept: until it comes again
  SECOND,  // likewise, and what depends on the time is noted
  REPEATS, // a loop is known, and the machine is in it
  CHECKS   // what would be skipped is stepped: until the state is to be what was worked out
} Phase;

static const spinach_machine *const machine = &spinach_machine_table;

static Phase phase;
static uint64_t common;              // ticks between the edges that all clocks have together
static uint64_t rest = LEAST_REST;   // points until the next attempt
static uint64_t points[MOST_POINTS]; // hashes
static uint32_t point_count;
static uint32_t since; // how many points ago it was as it is now; 0: never, it is taken to be in the loop found last
static uint64_t known[MOST_POINTS]; // hashes of the loop that was found last, into which the machine may come back
static uint32_t known_count;
static uint64_t known_period; // of the whole machine
static spinach_loop_state *begin, *end, *now_state, *expected;
static uint64_t *grown;               // of each counter in a loop
static uint64_t began, ended, period; // of the first loop at hand
static uint32_t tries;                // how often its end was looked for
static uint64_t effects, skipped;     // what there were when it began
static uint64_t bound;                // the first instant at which something comes that the loop does not move
static bool endless;                  // nothing comes that the loop at hand does not move
static uint64_t counted, loops, attempts, checked;

uint64_t spinach_repeats_ticks(void) {
  return counted;
}

uint64_t spinach_repeats_period(void) {
  return period;
}

uint64_t spinach_repeats_endless(void) {
  return endless ? period : 0;
}

// ---- What depends on the time

static void comes_at(uint64_t instant) {
  if (instant < bound) bound = instant;
}

static void comes_in(uint64_t n, uint64_t unit) {
  if (n <= (UINT64_MAX - spinach_time.now) / unit) comes_at(spinach_time.now + n * unit);
}

// Whether it may be as it was when the first loop began, here or elsewhere: the loop does not move it.
static bool is_fixed(const uint64_t *time) {
  return spinach_loop_state_has_time(begin, *time);
}

bool spinach_tracked_passed(const uint64_t *stamp, uint64_t k, uint64_t now, uint64_t unit) {
  const bool is = spinach_passed(*stamp, k, now);
  if (!is && *stamp != UINT64_MAX && is_fixed(stamp)) comes_in(spinach_until_passed(*stamp, k, now), unit);
  return is;
}

uint64_t spinach_tracked_elapsed(const uint64_t *stamp, uint64_t now) {
  spinach_effects += is_fixed(stamp);
  return now - *stamp;
}

uint64_t spinach_tracked_until(const uint64_t *instant) {
  const uint64_t n = spinach_until(*instant);
  if (n && n != UINT64_MAX) spinach_effects += is_fixed(instant);
  return n;
}

bool spinach_tracked_within(const uint64_t *instant, uint64_t k) {
  const bool is = *instant <= spinach_time.cycle + k;
  if (!is && *instant != UINT64_MAX && is_fixed(instant))
    comes_in(*instant - k - spinach_time.cycle, spinach_time.period);
  return is;
}

bool spinach_tracked_due(uint64_t instant) {
  if (spinach_time.now >= instant) return true;
  if (instant != UINT64_MAX) comes_in(instant - spinach_time.now, 1);
  return false;
}

bool spinach_tracked_is(uint64_t instant, uint64_t coming, uint64_t unit) {
  if (coming < instant && instant != UINT64_MAX) comes_in(instant - coming, unit);
  spinach_effects += coming == instant;
  return coming == instant;
}

uint64_t spinach_tracked_modulo(uint64_t n) {
  if (period / spinach_time.period % n != 0) spinach_effects++;
  return spinach_time.cycle % n;
}

// The system may write into the state, which must not be protected then.
void spinach_tracked_file(void) {
  spinach_effects++;
  spinach_loop_state_guard(false);
}

// ---- Attempts

static void look_at(uint64_t instant) {
  spinach_hooks.look_at = instant;
}

// Whether modules' words notice what has no place in a loop.
static void watch(bool on) {
  if (on != spinach_hooks.tracked) spinach_loop_state_guard(on);
  spinach_hooks.tracked = on;
}

static void rests(uint64_t now, uint64_t n) {
  phase = RESTS;
  watch(false);
  look_at((now / common + n) * common);
}

static void rests_longer(uint64_t now) {
  rests(now, rest);
  if (rest < MOST_REST) rest *= 2;
}

static uint64_t gives_up(uint64_t now) {
  rests_longer(now);
  return 0;
}

// Of the states of all clusters but the root; 0: one of them is stepped.
static uint64_t hash_of_nodes(void) {
  uint64_t hash = 1;
  for (spinach_replay *const *r = spinach_replays; *r; r++) {
    if (!(*r)->at && !((*r)->gate && (*r)->gate->asleep)) return 0;
    hash = (hash ^ (uint64_t)(uintptr_t)(*r)->at) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash ? hash : 1;
}

static void keeps(spinach_loop_state *state) {
  spinach_replay_synchronize();
  spinach_loop_state_keep(state);
}

static void seeks(uint64_t now) {
  phase = SEEKS;
  point_count = 0;
  attempts++;
  look_at(now);
}

// How many points ago it was as it is now; 0: never.
static uint32_t points_since(uint64_t hash) {
  for (uint32_t back = 1; back < point_count; back++)
    if (points[point_count - 1 - back] == hash) return back;
  return 0;
}

static bool is_known(uint64_t hash) {
  for (uint32_t i = 0; i < known_count; i++)
    if (known[i] == hash) return true;
  return false;
}

static uint64_t seek(uint64_t now) {
  const uint64_t hash = hash_of_nodes();
  if (!hash || point_count == MOST_POINTS) return gives_up(now);
  look_at(now + common);
  points[point_count++] = hash;
  since = points_since(hash);
  if (!since && !is_known(hash)) return 0;
  phase = FIRST;
  began = now;
  period = since ? since * common : known_period;
  tries = 0;
  effects = spinach_effects;
  skipped = spinach_skipped();
  keeps(begin);
  look_at(now + period);
  return 0;
}

static bool has_done_more(void) {
  return effects != spinach_effects || skipped != spinach_skipped();
}

// What was taken for the loop that was found last was another.
static uint64_t seeks_anew(uint64_t now) {
  known_count = 0;
  seeks(now);
  return seek(now);
}

static uint64_t end_first(uint64_t now) {
  const bool whole = !has_done_more() && hash_of_nodes();
  if (whole) keeps(end);
  const bool again = whole && spinach_loop_state_repeats(begin, end, now - began);
  if (!again && !since) return seeks_anew(now);
  if (!whole || (!again && ++tries == MOST_MULTIPLES)) return gives_up(now);
  if (!again) {
    look_at(now + period);
    return 0;
  }
  period = known_period = now - began;
  if (since) memcpy(known, &points[point_count - since], (known_count = since) * sizeof *known);
  spinach_loop_state_grown(begin, end, grown);
  spinach_loop_state_sort(begin);
  ended = now;
  phase = SECOND;
  bound = UINT64_MAX;
  watch(true);
  look_at(now + period);
  return 0;
}

// The wake of a cluster that has slept since the loop began is not moved by it.
static void look_at_sleeping(void) {
  for (const spinach_sleeping *s = machine->sleeping; s->gate; s++) {
    if (!s->gate->asleep || s->gate->wake == UINT64_MAX) continue;
    const uint64_t ticks = machine->clocks[s->clock].period;
    if (s->gate->wake <= UINT64_MAX / ticks) comes_at(s->gate->wake * ticks);
  }
}

// The next loop, unless something comes in it.
static void go_on(uint64_t now) {
  phase = REPEATS;
  if (bound - now < period || bound < now)
    rests(bound < now ? now : bound, 1);
  else
    look_at(now + period);
}

// As many loops as end before something comes.
static uint64_t take_on(uint64_t now, uint64_t limit) {
  const uint64_t own = limit < bound ? limit : bound, reached = spinach_reach_on(now, own),
                 until = reached < own ? reached : own, n = until > now ? (until - now) / period : 0;
  if (n) {
    loops += n;
    counted += n * period;
    spinach_loop_state_work_out(expected, now_state, grown, n, period);
    phase = CHECKS;
    look_at(now + n * period);
    if (spinach_replay_checks) return 0;
    spinach_loop_state_apply(expected);
    spinach_replay_shift(n * period);
  }
  go_on(now + n * period);
  return n * period;
}

static uint64_t end_second(uint64_t now, uint64_t limit, bool stays) {
  keeps(now_state);
  if (has_done_more() || !hash_of_nodes() || !spinach_loop_state_repeats(end, now_state, period) ||
      !spinach_loop_state_grows_so(end, now_state, grown))
    return gives_up(now);
  look_at_sleeping();
  watch(false);
  // It pays if what may be left out is no less than what it took to find that out.
  if (bound < now || bound - now < now - began) {
    rests_longer(bound < now ? now : bound);
    return 0;
  }
  rest = LEAST_REST;
  endless = stays && bound == UINT64_MAX && spinach_standstill_counts();
  return endless ? gives_up(now) : take_on(now, limit);
}

// The run was to end, and goes on.
static uint64_t repeat(uint64_t now, uint64_t limit) {
  keeps(now_state);
  if (!spinach_loop_state_repeats(end, now_state, now - ended)) return gives_up(now);
  return take_on(now, limit);
}

static uint64_t check(uint64_t now) {
  keeps(now_state);
  spinach_loop_state_compare(expected, now_state);
  checked++;
  go_on(now);
  return 0;
}

static uint64_t look(uint64_t now, uint64_t limit, bool stays) {
  switch (phase) {
  case RESTS:
    if (!hash_of_nodes()) return gives_up(now);
    seeks(now);
    return seek(now);
  case SEEKS: return seek(now);
  case FIRST: return end_first(now);
  case SECOND: return end_second(now, limit, stays);
  case REPEATS: return repeat(now, limit);
  case CHECKS: return check(now);
  }
  return 0;
}

static uint64_t look_and_take_on(uint64_t now, uint64_t limit, bool *stays) {
  const uint64_t ticks = look(now, limit, *stays);
  *stays = endless;
  return ticks;
}

static void forget(void) {
  rests(spinach_next_instant() + common - 1, rest);
}

static uint64_t repeats_until(void) {
  return phase == REPEATS && spinach_next_instant() <= spinach_hooks.look_at ? bound : 0;
}

// What comes breaks a loop when it acts, and its place in the state one that is compared.  No attempt was in vain for
// that: the next one follows, at once where there is time for some loops before, else after it.
static void comes(uint64_t instant) {
  const uint64_t now = spinach_next_instant(), ahead = instant > now ? instant - now : 0;
  const bool far = known_period && ahead > LOOPS_AHEAD * known_period;
  if (far && phase == RESTS) return;
  const uint64_t points = far ? 1 : ahead / common + 1;
  if (phase != RESTS || spinach_hooks.look_at < (now / common + points) * common) rests(now, points);
}

// ---- Before a run, and after it

static uint64_t gcd(uint64_t a, uint64_t b) {
  return b ? gcd(b, a % b) : a;
}

// The instants at which all clocks have an edge; 0: they hardly ever do.
static uint64_t find_common(void) {
  unsigned __int128 all = 1;
  const uint64_t fastest = machine->clocks[spinach_fastest_clock()].period;
  for (uint32_t i = 0; i < machine->clock_count; i++) {
    all = all / gcd((uint64_t)all, machine->clocks[i].period) * machine->clocks[i].period;
    if (all / fastest > MOST_COMMON) return 0;
  }
  return (uint64_t)all;
}

void spinach_repeats_begin(void) {
  if (!machine->watch || !(common = find_common())) return;
  begin = spinach_loop_state_new();
  end = spinach_loop_state_new();
  now_state = spinach_loop_state_new();
  expected = spinach_loop_state_new();
  grown = spinach_loop_state_counters();
  spinach_hooks.take_on = look_and_take_on;
  spinach_hooks.forget = forget;
  spinach_hooks.repeats_until = repeats_until;
  spinach_hooks.comes = comes;
  rests(spinach_next_instant() + common - 1, LEAST_REST);
}

void spinach_repeats_report(FILE *out) {
  fprintf(out, "whole loops: %llu; stretches checked: %llu\n", (unsigned long long)loops, (unsigned long long)checked);
}
