// The main program of every simulator: command line, the loop, and how a run ends.
#include "emulib/program/standard_streams.h"
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/difference.h"
#include "lss/runtime/checkpoint/serve.h"
#include "lss/runtime/checkpoint/state_hash.h"
#include "lss/runtime/debug/debug.h"
#include "lss/runtime/debug/interactive.h"
#include "lss/runtime/engine/variant.h"
#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/idle_check.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/program_text.h"
#include "lss/runtime/observe/ranges.h"
#include "lss/runtime/observe/standstill.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/replay/check.h"
#include "lss/runtime/replay/repeats.h"
#include "lss/runtime/run/manifest.h"
#include "lss/runtime/run/progress.h"
#include "lss/runtime/text/json.h"
#include "lss/runtime/trace/recorder.h"
#include "lss/runtime/wave/wave.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

enum {
  SLICE = 1 << 16,     // cycles between looks at the clock on the wall
  REPEATED = 10000000, // cycles that a stuck run may have taken to be repeated with checks
};
static const char REPEAT[] =
    "SPINACH_REPEAT"; // in the environment: this run repeats another for the report of a stuck one

static const spinach_machine *const machine = &spinach_machine_table;
static const spinach_options *given;
static bool stuck, repeats;
static volatile sig_atomic_t interrupted; // signal that asked the run to end
static volatile sig_atomic_t paused;      // SIGINT is to end the command at hand

// The first one ends the run normally, when the C of a module returns; a second one immediately.  Ahead of these, one
// that a person types ends only the command of --interactive that is at hand.
static void on_signal(int number) {
  if (number == SIGINT && given->interactive && !paused && !interrupted) {
    paused = true;
    spinach_stopping |= SPINACH_PAUSE;
    return;
  }
  if (interrupted) {
    spinach_streams_remove();
    _exit(128 + number);
  }
  interrupted = number;
  spinach_stopping |= SPINACH_STOP;
}

// ---- The run

// A debug build steps as many cycles again as this one did; a long run is not repeated unasked, nor is one that
// somebody has debugged or given commands to.
static bool is_repeatable(void) {
  return !given->gdb && !given->interactive && spinach_cycles(spinach_fastest_clock()) - spinach_skipped() <= REPEATED;
}

// Runs a stuck run again, for its report alone; says so before.
static void repeat_stuck(int argc, char **argv) {
  const unsigned long long stepped = spinach_cycles(spinach_fastest_clock()) - spinach_skipped();
  if (!is_repeatable()) {
    fprintf(stderr,
            "%s: what waits on what is known to a build with --debug; this run is not repeated with one, since it took "
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

char *spinach_run_stuck(void) {
  const uint64_t timeout = spinach_ticks((spinach_count)given->watchdog);
  const double ms = 1e3 / (double)machine->ticks_per_second;
  if (!timeout || spinach_advancing.active || spinach_stopping || spinach_passing->idle ||
      spinach_time.now - spinach_passing->last_progress <= timeout)
    return NULL;
  return g_strdup_printf("no progress for %g ms of simulated time, since %g ms", (double)timeout * ms,
                         (double)spinach_passing->last_progress * ms);
}

// What waits on what shows in the signals of the last instant, which only debug builds keep.
const char *spinach_run_end_stuck(const char *text) {
  spinach_progress_end();
  fprintf(stderr, "%s: error: %s\n", spinach_program, text);
  spinach_set_error(text);
  stuck = true;
  if (machine->debug) spinach_print_waits(stderr);
  if (machine->debug || !is_repeatable()) spinach_print_views(stderr, -1);
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

// Cycles until a checkpoint or a hash is due, at most to the next multiple of SLICE: there, wherever the run began or
// was interrupted, it is looked whether there is progress.
static struct spinach_slice slice(const spinach_options *options) {
  if (spinach_trace_active()) return (struct spinach_slice){1, 1};
  const uint64_t cycles = spinach_cycles(options->clock), saved = options->checkpoint_every;
  uint64_t kept = spinach_standstill_distance();
  if (saved) kept = MIN(kept, saved - cycles % saved);
  if (options->state_hashes) kept = MIN(kept, options->state_hash_every - cycles % options->state_hash_every);
  const uint64_t looked = SLICE - cycles % SLICE, progressing = surely_progressing(options);
  return (struct spinach_slice){MIN(kept, looked), MIN(kept, MAX(looked, progressing))};
}

// Whether modules keep to what they declare of their state; false after a line, and the run has an error.  A checkpoint
// that no run takes is not written.
static bool state_is_sound(void) {
  g_autofree char *fault = spinach_ranges_fault();
  if (!fault) return spinach_balance_check();
  spinach_progress_end();
  fflush(stdout);
  fprintf(stderr, "%s: error: %s (at %llu ns)\n", spinach_program, fault, (unsigned long long)spinach_now_ns());
  spinach_set_error(fault);
  return false;
}

// A checkpoint or a hash that is due is written; on failure the run has an error.
static bool keep(const spinach_options *options) {
  static uint64_t kept = UINT64_MAX;
  const uint64_t cycles = spinach_cycles(options->clock);
  if (cycles == kept) return true;
  kept = cycles;
  if (options->state_hashes && cycles % options->state_hash_every == 0 && !spinach_state_hash_note(options))
    return false;
  if (!options->checkpoint_every || cycles % options->checkpoint_every || !cycles) return true;
  return state_is_sound() && spinach_checkpoint_write(options);
}

// No run goes on for ever unnoticed: instants of 64 bits end.
static const char *end_of_time(void) {
  g_autofree char *text = g_strdup_printf(
      "simulated time ends at %.6g s: instants are 64 bits wide, in ticks of %.3g ps (end the run before "
      "that, with --time, --cycles or --until)",
      (double)spinach_last_instant() / (double)machine->ticks_per_second, 1e12 / (double)machine->ticks_per_second);
  spinach_progress_end();
  fprintf(stderr, "%s: error: %s\n", spinach_program, text);
  spinach_set_error(text);
  return spinach_error_text;
}

bool spinach_is_interrupted(void) {
  return interrupted;
}

bool spinach_take_pause(void) {
  const bool was = paused;
  paused = false;
  return was;
}

const char *spinach_run_begin(void) {
  const spinach_options *options = given;
  spinach_recorder_look();
  spinach_wave_look();
  const char *ended = spinach_measure_look();
  if (spinach_stopping & SPINACH_STOP || interrupted) return interrupted ? "interrupted" : spinach_stop_reason;
  if (ended) return ended;
  if (spinach_cycles(options->clock) >= options->cycles) return "all cycles were simulated";
  if (spinach_time.now >= options->until_tick) return "all time was simulated";
  if (spinach_time.now >= spinach_last_instant()) return end_of_time();
  if (!keep(options)) return spinach_set_error("a checkpoint could not be written"), spinach_error_text;
  spinach_measure_advance(options, slice(options));
  return NULL;
}

// The run cannot end as it was meant to.
static const char *end_in_vain(const char *text) {
  spinach_progress_end();
  spinach_report_error("error: %s", text);
  spinach_set_error(text);
  return spinach_error_text;
}

static const char *end_idle(const spinach_options *options) {
  spinach_progress_end();
  g_autofree char *text = spinach_standstill_error(options);
  return text ? end_in_vain(text) : SPINACH_NOTHING_LEFT;
}

// The machine does the same again and again, and nothing is due that could change that.
static const char *end_loop(void) {
  g_autofree char *text =
      spinach_standstill_loop_error(spinach_repeats_endless() / machine->clocks[spinach_fastest_clock()].period);
  const char *ended = end_in_vain(text);
  spinach_print_views(stderr, -1);
  return ended;
}

// Runs to the end; returns why it ended.
static const char *run(const spinach_options *options) {
  spinach_standstill_begin(options);
  for (;;) {
    const char *ended = spinach_run_begin();
    if (ended) return ended;
    while (spinach_advancing.active) spinach_advance_step(false);
    if (spinach_advancing.nothing_left || spinach_standstill_found()) return end_idle(options);
    if (spinach_repeats_endless()) return end_loop();
    if (spinach_trace_active() && !spinach_trace_line())
      return spinach_set_error("standard error, with the lines of --trace, cannot be written"), spinach_error_text;
    if (options->progress) spinach_progress_show(options);
    spinach_standstill_note();
    g_autofree char *text = spinach_run_stuck();
    if (text) return spinach_run_end_stuck(text);
  }
}

// ---- Results

static void abandon(void) {
  spinach_streams_abandon();
  spinach_series_end();
  spinach_state_hash_abandon();
}

static bool write_text(const char *path, const char *text) {
  g_autoptr(GError) error = NULL;
  return whole_file_write(path, text, -1, &error) ||
         spinach_report_error("cannot write \"%s\": %s", path, error->message);
}

static bool write_in_folder(const char *folder, const char *name, const char *text) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  return write_text(path, text);
}

// How fast it was; apart from everything else, since it differs from run to run.
static char *timing_json(double seconds) {
  Json json;
  uint64_t cycles = spinach_cycles(spinach_fastest_clock());
  json_start(&json);
  json_open(&json, '{');
  json_key(&json, "host_seconds");
  json_real(&json, seconds);
  json_key(&json, "cycles_per_second");
  json_real(&json, seconds > 0 ? (double)cycles / seconds : 0);
  json_key(&json, "cycles_in_loops");
  json_uint(&json, spinach_repeats_ticks() / machine->clocks[spinach_fastest_clock()].period);
  json_close(&json, '}');
  return json_finish(&json);
}

typedef struct {
  const spinach_options *options;
  const char *ended;
} Document;

static bool fill_statistics(FILE *out, void *data) {
  const Document *document = data;
  return spinach_statistics_write(out, document->options, document->ended);
}

// The statistics; samples that cannot be written there are left where they are.
static bool write_statistics(const char *path, const spinach_options *options, const char *ended) {
  Document document = {options, ended};
  g_autoptr(GError) error = NULL;
  if (whole_file_fill(path, fill_statistics, &document, &error)) return true;
  const char *left = spinach_series_leave();
  if (spinach_series_problem()) return false; // one line says both
  return spinach_report_error(left ? "cannot write \"%s\": %s (its samples are in \"%s\")" : "cannot write \"%s\": %s",
                              path, error->message, left);
}

// The run is over; what became of its samples, if they could not all be written.
static bool end_samples(void) {
  const char *problem = spinach_series_problem(), *left = spinach_series_left();
  spinach_series_end();
  if (!problem) return true;
  return spinach_report_error(left ? "error: a sample cannot be written: %s (those before are in \"%s\")"
                                   : "error: a sample cannot be written: %s",
                              problem, left);
}

static bool write_results(const spinach_options *options, const char *ended, double seconds) {
  const bool csv = options->stats && g_str_has_suffix(options->stats, ".csv");
  g_autofree char *lines = csv ? spinach_statistics_csv() : NULL;
  if (csv && !write_text(options->stats, lines)) return false;
  if (options->stats && !csv && !write_statistics(options->stats, options, ended)) return false;
  if (!options->run_dir) return true;
  if (g_mkdir_with_parents(options->run_dir, 0777))
    return spinach_report_error("cannot make the folder \"%s\": %s", options->run_dir, g_strerror(errno));
  g_autofree char *manifest = spinach_manifest_json(options), *timing = timing_json(seconds);
  g_autofree char *statistics = g_build_filename(options->run_dir, "statistics.json", NULL);
  return write_statistics(statistics, options, ended) && write_in_folder(options->run_dir, "manifest.json", manifest) &&
         write_in_folder(options->run_dir, "timing.json", timing);
}

static void print_states(const spinach_options *options) {
  for (guint i = 0; i < options->print->len; i++)
    spinach_print_state(stdout, &g_array_index(options->print, spinach_place, i));
}

// A run with an error has said what its first loss was.
static bool flush_output(void) {
  if (*spinach_error_text && ferror(stdout)) return false;
  return standard_streams_flush(spinach_program);
}

// Results that could not be written at the end are refused at the beginning.
static bool can_write(const char *path, bool folders) {
  g_autoptr(GError) error = NULL;
  return whole_file_possible(path, folders, &error) ||
         spinach_report_error("cannot write \"%s\": %s", path, error->message);
}

static bool can_write_results(const spinach_options *options) {
  if (options->stats && !can_write(options->stats, false)) return false;
  if (options->checkpoint && !can_write(options->checkpoint, false)) return false;
  if (options->state_hashes && !can_write(options->state_hashes, false)) return false;
  if (!options->run_dir) return true;
  g_autofree char *path = g_build_filename(options->run_dir, "statistics.json", NULL);
  return can_write(path, true);
}

int spinach_deliver(const char *ended) {
  const spinach_options *options = given;
  double seconds = spinach_host_seconds();
  spinach_progress_end();
  spinach_recorder_stop();
  const bool sound = (*spinach_error_text && !stuck) || (machine->debug ? state_is_sound() : spinach_balance_check());
  if (machine->debug && sound && !*spinach_error_text) spinach_balance_note();
  spinach_finish();
  if (repeats) {
    abandon();
    return 1;
  }
  const bool failed = *spinach_error_text;
  bool fine = (failed || spinach_measure_end()) && !failed;
  print_states(options);
  if (!options->quiet) spinach_statistics_table(stdout);
  fine &= spinach_wave_end();
  fine &= spinach_streams_commit();
  fine &= spinach_recorder_end();
  fine &= write_results(options, ended, seconds);
  fine &= end_samples();
  fine &= !options->state_hashes || spinach_state_hash_end(options->state_hashes);
  if (options->check_idle) spinach_idle_check_report(stderr);
  if (options->check_replay) spinach_replay_check_report(stderr);
  if (options->check_replay) spinach_repeats_report(stderr);
  if (!failed && (!options->quiet || spinach_stop_status))
    fprintf(stderr, "%s: %s after %g ms of simulated time (%.2f M cycles/s)\n", spinach_program, ended,
            (double)spinach_now_ns() / 1e6,
            seconds > 0 ? (double)spinach_cycles(spinach_fastest_clock()) / seconds / 1e6 : 0);
  fine &= flush_output(); // last, since that a line was lost shows only when it was printed
  return fine ? (interrupted ? 128 + interrupted : spinach_stop_status) : 1;
}

// Whether clusters that repeat themselves are stepped: as the user wants, or since their state is looked at too often.
static bool steps_all(const spinach_options *options) {
  bool observed = options->gdb || options->interactive || options->trace;
  for (int i = 0; i < SPINACH_CONDITIONS; i++) observed |= options->conditions[i].kind == SPINACH_AT_STATE;
  return options->no_replay || (observed && !options->check_replay);
}

static void watch_signals(void) {
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  if (signal(SIGHUP, on_signal) == SIG_IGN) signal(SIGHUP, SIG_IGN); // of nohup
  signal(SIGPIPE, SIG_IGN); // a closed pipe is a failed write, reported as such
  signal(SIGXFSZ, SIG_IGN); // and so is a file that may not grow
}

// Does what a command line asks for.
static int simulate(int argc, char **argv) {
  spinach_options options;
  if (!spinach_options_parse(argc, argv, &options)) return 2;
  if (options.ended) return flush_output() ? 0 : 1;
  if (!options.serve && !spinach_files_claim(&options)) return 2; // a server has none: names are of its runs
  if ((options.gdb || options.interactive) && !spinach_debug_adopt(&options)) return 2;
  g_autoptr(GPtrArray) words = spinach_variant_words(&options);
  if (words->len) {
    spinach_become(argc, argv, words);
    return 1;
  }
  if (options.serve) {
    const int status = spinach_serve(argc, argv, &options, simulate);
    return flush_output() ? status : 1;
  }
  if (options.compare) {
    const int status = spinach_checkpoint_compare(&options);
    return flush_output() ? status : 2;
  }
  if (options.restore && !spinach_restore_read(&options)) return 2;
  if (!spinach_measure_begin(&options) || !spinach_settings_store(&options)) return 2;
  if (options.gdb_script) {
    spinach_debug_script(&options);
    return flush_output() ? 0 : 1;
  }
  if (!can_write_results(&options)) return 1;
  if (!spinach_wave_begin(&options)) return 2;
  if (options.gdb && !spinach_debug_open(&options)) return 1;
  given = &options;
  repeats = machine->debug && g_getenv(REPEAT) && freopen("/dev/null", "w", stdout); // what is printed was printed
  g_unsetenv(REPEAT);
  spinach_seed = options.seed;
  watch_signals();
  spinach_progress_say_files(&options);
  spinach_start();
  if (!spinach_manifest_inputs() || (options.restore && !spinach_restore_state(&options))) {
    abandon();
    return 2;
  }
  bool tried;
  const bool taken = spinach_debug_take_over(&tried);
  if (!taken || tried) {
    abandon();
    return taken ? 0 : 2;
  }
  spinach_type_instruction = spinach_disassemble;
  if (options.trace && !spinach_trace_choose(options.trace)) {
    abandon();
    return 2;
  }
  if (!spinach_recorder_begin(&options)) {
    abandon();
    return 1;
  }
  if (options.check_idle) spinach_idle_check_begin();
  if (options.check_replay) spinach_replay_check();
  if (steps_all(&options))
    spinach_replay_disable();
  else
    spinach_repeats_begin();
  spinach_progress_start();
  spinach_balance_begin();
  if (options.restore && !spinach_balance_check()) {
    abandon();
    return 2;
  }
  const char *ended = options.gdb           ? spinach_debug_run(&options)
                      : options.interactive ? spinach_interactive_run(&options)
                                            : run(&options);
  if (options.state_hashes) spinach_state_hash_note(&options);
  if (options.checkpoint && !*spinach_error_text && state_is_sound() && !spinach_checkpoint_write(&options))
    spinach_set_error("the checkpoint could not be written");
  const int status = spinach_deliver(ended);
  if (stuck && !machine->debug && !options.gdb && !options.interactive) repeat_stuck(argc, argv);
  spinach_options_clear(&options);
  return status;
}

int spinach_main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  spinach_program = slash ? slash + 1 : argv[0];
  standard_streams_open(spinach_program);
  spinach_watch_memory();
  spinach_arena_map(); // names and defaults need it
  return simulate(argc, argv);
}
