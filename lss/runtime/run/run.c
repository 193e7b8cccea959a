// The loop of a run; see run.h.
#include "lss/runtime/run/run.h"

#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/state_hash.h"
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/idle_timeout.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/ranges.h"
#include "lss/runtime/observe/standstill.h"
#include "lss/runtime/replay/repeats.h"
#include "lss/runtime/run/meetings.h"
#include "lss/runtime/run/progress.h"
#include "lss/runtime/run/saves.h"
#include "lss/runtime/trace/recorder.h"
#include "lss/runtime/wave/wave.h"

enum {
  SLICE = 1 << 16,     // cycles between looks at the clock on the wall
  REPEATED = 10000000, // cycles that a stuck run may have taken to be repeated with checks
};
static const char REPEAT[] =
    "SPINACH_REPEAT"; // in the environment: this run repeats another for the report of a stuck one

static const spinach_machine *const machine = &spinach_machine_table;
static const spinach_options *given;
static const char ALL_CYCLES[] = "all cycles were simulated";
static bool stuck, repeats;

void spinach_run_prepare(const spinach_options *options) {
  given = options;
  repeats = machine->debug && g_getenv(REPEAT) && freopen("/dev/null", "w", stdout); // what is printed was printed
  g_unsetenv(REPEAT);
}

const spinach_options *spinach_run_options(void) {
  return given;
}

bool spinach_run_is_stuck(void) {
  return stuck;
}

bool spinach_run_repeats(void) {
  return repeats;
}

// A debug build steps as many cycles again as this one did; a long run is not repeated unasked, nor is one that
// somebody has debugged or given commands to.
static bool is_repeatable(void) {
  return !given->gdb && !given->interactive && !machine->part &&
         spinach_cycles(spinach_fastest_clock()) - spinach_skipped() <= REPEATED;
}

// Whether the run is of a network in parts, or of one that could be built so: then a part that wants the run to end
// does so for all, at an instant that none has passed (part.h).
static bool has_parts(void) {
  return machine->distance || machine->part;
}

char *spinach_run_stuck(void) {
  const uint64_t timeout = spinach_ticks((spinach_count)given->watchdog);
  if (!timeout || machine->part || spinach_advancing.active || spinach_stopping || spinach_passing->idle ||
      spinach_time.now - spinach_passing->last_progress <= timeout)
    return NULL;
  return spinach_standstill_stuck_text(timeout, spinach_passing->last_progress);
}

char *spinach_run_silence(void) {
  const uint64_t now = spinach_time.now, latest = spinach_passing->last_progress, silent = now - latest;
  const double ms = 1e3 / (double)machine->ticks_per_second;
  if (!given->watchdog || !latest || latest > now || silent <= now / 2 || spinach_passing->idle) return NULL;
  return g_strdup_printf("no progress since %g ms, for %.0f %% of the time (--watchdog \"%.2g ms\" shows what waits)",
                         (double)latest * ms, 100 * (double)silent / (double)now, (double)silent * ms / 2);
}

// The run ends with an error, which is reported.
static const char *end_with_error(const char *text) {
  spinach_report_error("error: %s", text);
  spinach_set_error(text);
  return spinach_error_text;
}

// What waits on what shows in the signals of the last instant, which only debug builds keep.
const char *spinach_run_end_stuck(const char *text) {
  end_with_error(text);
  stuck = true;
  if (!machine->debug && is_repeatable()) return spinach_error_text; // the repeated run says more
  spinach_print_waits(stderr);
  spinach_print_views(stderr, -1);
  return spinach_error_text;
}

// Cycles to the last look before there may have been no progress for too long.
static uint64_t surely_progressing(const spinach_options *options) {
  const uint64_t timeout = spinach_ticks((spinach_count)options->watchdog),
                 stuck = spinach_passing->last_progress + timeout;
  if (!timeout || stuck < timeout) return UINT64_MAX;
  const uint64_t cycles = spinach_cycles(options->clock), period = machine->clocks[options->clock].period;
  const uint64_t last = cycles + (stuck > spinach_time.now ? (stuck - spinach_time.now) / period : 0);
  return last - last % SLICE > cycles ? last - last % SLICE - cycles : 0;
}

// Cycles until a hash is due, at most to the next multiple of SLICE: there, wherever the run began or
// was interrupted, it is looked whether there is progress.
static struct spinach_slice slice(const spinach_options *options) {
  if (spinach_hooks.each_cycle) return (struct spinach_slice){1, 1};
  const uint64_t cycles = spinach_cycles(options->clock);
  uint64_t kept = MIN(spinach_standstill_distance(), spinach_idle_timeout_distance());
  if (options->state_hashes) kept = MIN(kept, options->state_hash_every - cycles % options->state_hash_every);
  const uint64_t looked = SLICE - cycles % SLICE, progressing = surely_progressing(options);
  return (struct spinach_slice){MIN(kept, looked), MIN(kept, MAX(looked, progressing))};
}

// Whether modules keep to what they declare of their state; false after a line, and the run has an error.  A checkpoint
// that no run takes is not written.
bool spinach_state_is_sound(void) {
  g_autofree char *fault = spinach_ranges_fault();
  if (!fault) return spinach_balance_check();
  spinach_progress_clear();
  fflush(stdout);
  fprintf(stderr, "%s: error: %s (at %llu ns)\n", spinach_program, fault, (unsigned long long)spinach_now_ns());
  spinach_set_error(fault);
  return false;
}

// A hash that is due is written; on failure the run has an error.
static bool keep(const spinach_options *options) {
  static uint64_t kept = UINT64_MAX;
  const uint64_t cycles = spinach_cycles(options->clock);
  if (cycles == kept) return true;
  kept = cycles;
  if (!options->state_hashes || cycles % options->state_hash_every) return true;
  if (!spinach_part_complete(spinach_next_instant())) return true; // the run ends before
  return spinach_state_hash_note(options);
}

// No run goes on for ever unnoticed: instants of 64 bits end.
static const char *end_of_time(void) {
  g_autofree char *text = g_strdup_printf(
      "simulated time ends at %.6g s: instants are 64 bits wide, in ticks of %.3g ps (end the run before "
      "that, with --time, --cycles or --until)",
      (double)spinach_last_instant() / (double)machine->ticks_per_second, 1e12 / (double)machine->ticks_per_second);
  return end_with_error(text);
}

// The instant at which that is found, which does not depend on the clocks of other parts.
static uint64_t found_at(const spinach_options *options) {
  if (spinach_interrupted()) return spinach_next_instant();
  const bool timed = options->conditions[SPINACH_UNTIL].relative && !(spinach_stopping & SPINACH_STOP);
  return timed ? spinach_advancing.until : spinach_stepped_until();
}

// Looks at all conditions up to the instant `at`.  Returns why the run ends there; a machine with parts ends later,
// when no part has passed the instant.
static const char *find_end(const spinach_options *options, uint64_t at) {
  spinach_triggers_limit(at);
  spinach_recorder_look();
  spinach_wave_look();
  const char *condition = spinach_measure_look();
  const char *ended = spinach_interrupted()             ? "interrupted"
                      : spinach_stopping & SPINACH_STOP ? spinach_stop_reason
                                                        : condition;
  if (!has_parts()) return ended;
  const spinach_condition_kind until = options->conditions[SPINACH_UNTIL].kind;
  if (ended && ended == condition && (until == SPINACH_AT_TIME || until == SPINACH_AT_CYCLES)) return ended;
  if (ended) spinach_part_end(spinach_interrupted() ? BOARD_INTERRUPTED : BOARD_ENDS, found_at(options), ended);
  spinach_stopping &= ~SPINACH_STOP;
  return NULL;
}

static const char *end_waiting(const char *text) {
  const char *ended = end_with_error(text);
  spinach_print_waits(stderr);
  spinach_print_views(stderr, -1);
  return ended;
}

// What a meeting of all parts has found.
static const char *end_meeting(Meeting found, char *error) {
  g_autofree char *text = error;
  if (found == MEETING_STUCK) return spinach_run_end_stuck(text);
  if (found == MEETING_IDLE) return end_waiting(text);
  return found == MEETING_OVER ? SPINACH_NOTHING_LEFT : NULL;
}

// The next instant at which this part has something to do that is not the machine's: a sample, a checkpoint, the end.
// What comes only after all parts may have come to rest waits until it is known whether they have.
static uint64_t own_appointment(const spinach_options *options) {
  const uint64_t next = MIN(spinach_triggers_tick(options->until_tick), spinach_saves_tick());
  const bool knows_end = spinach_part_end_at() != UINT64_MAX;
  return next <= spinach_time.now && !knows_end && spinach_rests_before(next) ? UINT64_MAX : next;
}

// Writes a checkpoint on the way; on failure the run has an error.  One that no run takes is not written.
static bool save(const spinach_options *options) {
  if (spinach_state_is_sound() && spinach_checkpoint_write(options)) return true;
  spinach_set_error("a checkpoint could not be written");
  return false;
}

// Does what is due before the next instant, in the order of time; returns why the run ends, or NULL.  In a part that
// may be several things, and the run may end between two of them.
static const char *keep_appointments(const spinach_options *options) {
  for (;;) {
    const uint64_t end = spinach_part_end_at(), own = own_appointment(options), meeting = spinach_meetings_tick();
    const bool attends = meeting <= MIN(own, end) && meeting <= spinach_part_reached() && !spinach_part_all_rest(),
               due = !attends && own <= MIN(end, spinach_time.now);
    const uint64_t at = attends ? meeting : due ? own : MIN(end, spinach_time.now);
    if ((due || attends) && !spinach_part_complete(at)) return spinach_part_ended();
    const char *ended = find_end(options, at);
    if (ended) return ended;
    if (spinach_cycles(options->clock) >= options->cycles) return ALL_CYCLES;
    if (due && at >= options->until_tick) return options->until_cycles ? ALL_CYCLES : "all time was simulated";
    if (due && spinach_saves_due(options, at) && !save(options)) return spinach_error_text;
    char *error = NULL;
    const Meeting found = attends ? spinach_meetings_hold(at, &error) : MEETING_GOES_ON;
    if ((ended = end_meeting(found, error)) || !(due || attends)) return ended ? ended : spinach_part_ended();
  }
}

const char *spinach_run_begin(void) {
  const spinach_options *options = given;
  const char *ended = keep_appointments(options);
  if (ended) return ended;
  if (spinach_time.now >= spinach_last_instant()) return end_of_time();
  if (!keep(options)) return spinach_set_error("a hash of the state could not be written"), spinach_error_text;
  spinach_part_appoint(spinach_meetings_tick());
  spinach_measure_advance(options, slice(options), MIN(spinach_saves_tick(), spinach_meetings_tick()));
  return NULL;
}

static const char *end_idle(const spinach_options *options) {
  g_autofree char *text = spinach_standstill_error(options);
  return text ? end_with_error(text) : SPINACH_NOTHING_LEFT;
}

// The machine does the same again and again, and nothing is due that could change that.
static const char *end_loop(void) {
  g_autofree char *text =
      spinach_standstill_loop_error(spinach_repeats_period() / machine->clocks[spinach_fastest_clock()].period);
  return end_waiting(text);
}

// Runs to the end; returns why it ended.
const char *spinach_run_to_end(void) {
  const spinach_options *options = given;
  spinach_standstill_begin(options);
  if (machine->part)
    spinach_meetings_begin(options); // a part alone cannot tell
  else
    spinach_idle_timeout_begin(options);
  for (;;) {
    const char *ended = spinach_run_begin();
    if (ended) return machine->part && !strcmp(ended, SPINACH_NOTHING_LEFT) ? end_idle(options) : ended;
    while (spinach_advancing.active) spinach_advance_step(false);
    if (spinach_part_loops()) return end_loop();
    if (spinach_advancing.nothing_left || spinach_standstill_found()) return end_idle(options);
    if (spinach_repeats_endless()) return end_loop();
    if (spinach_hooks.each_cycle && !spinach_trace_line())
      return spinach_set_error("standard error, with the lines of --trace, cannot be written"), spinach_error_text;
    if (options->progress) spinach_progress_show();
    spinach_standstill_note();
    g_autofree char *text = spinach_run_stuck();
    if (text) return spinach_run_end_stuck(text);
    g_autofree char *waiting = spinach_idle_timeout_error();
    if (waiting) return end_waiting(waiting);
  }
}

void spinach_run_repeat(int argc, char **argv) {
  const unsigned long long stepped = spinach_cycles(spinach_fastest_clock()) - spinach_skipped();
  if (!is_repeatable()) {
    fprintf(
        stderr,
        "%s: only a build with --debug reports who waits for whom; this run is not repeated with one, since it took "
        "%llu cycles, more than %d\n",
        spinach_program, stepped, REPEATED);
    return;
  }
  fprintf(stderr, "%s: running the %llu cycles again with checks, to see what waits on what\n", spinach_program,
          stepped);
  g_setenv(REPEAT, "1", TRUE);
  g_autoptr(GPtrArray) checks = g_ptr_array_new();
  g_ptr_array_add(checks, "--debug");
  spinach_become(argc, argv, checks);
}
