// What a run delivers; see results.h.
#include "lss/runtime/run/results.h"

#include "emulib/program/standard_streams.h"
#include "lss/runtime/checkpoint/checkpoint.h"
#include "lss/runtime/checkpoint/state_hash.h"
#include "lss/runtime/engine/instants.h"
#include "lss/runtime/engine/signals.h"
#include "lss/runtime/files/whole_file.h"
#include "lss/runtime/link/part.h"
#include "lss/runtime/observe/balance.h"
#include "lss/runtime/observe/idle_check.h"
#include "lss/runtime/observe/measure.h"
#include "lss/runtime/observe/print.h"
#include "lss/runtime/observe/series.h"
#include "lss/runtime/observe/statistics.h"
#include "lss/runtime/replay/check.h"
#include "lss/runtime/replay/repeats.h"
#include "lss/runtime/run/document.h"
#include "lss/runtime/run/manifest.h"
#include "lss/runtime/run/progress.h"
#include "lss/runtime/run/run.h"
#include "lss/runtime/trace/recorder.h"
#include "lss/runtime/wave/wave.h"

#include <errno.h>
#include <glib/gstdio.h>

static const spinach_machine *const machine = &spinach_machine_table;

void spinach_results_abandon(void) {
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
  if (machine->part) {
    json_key(&json, "waits");
    json_uint(&json, spinach_part_waits());
    json_key(&json, "waited_seconds");
    json_real(&json, spinach_part_waited());
  }
  json_close(&json, '}');
  return json_finish(&json);
}

typedef struct {
  const spinach_options *options;
  const char *ended;
} Document;

static bool fill_statistics(FILE *out, void *data) {
  const Document *document = data;
  return spinach_document_write(out, document->options, document->ended);
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
  if (options->print->len) spinach_order_flights();
  for (guint i = 0; i < options->print->len; i++)
    spinach_print_state(stdout, &g_array_index(options->print, spinach_place, i));
}

// A run with an error has said what its first loss was.
bool spinach_results_flush(void) {
  if (*spinach_error_text && ferror(stdout)) return false;
  return standard_streams_flush(spinach_program);
}

// Results that could not be written at the end are refused at the beginning.
static bool can_write(const char *path, bool folders) {
  g_autoptr(GError) error = NULL;
  return whole_file_possible(path, folders, &error) ||
         spinach_report_error("cannot write \"%s\": %s", path, error->message);
}

bool spinach_results_possible(const spinach_options *options) {
  if (options->stats && !can_write(options->stats, false)) return false;
  g_autofree char *checkpoint = options->checkpoint ? spinach_checkpoint_file(options) : NULL;
  if (checkpoint && !can_write(checkpoint, options->part.board)) return false;
  if (options->state_hashes && !can_write(options->state_hashes, false)) return false;
  if (options->record_links && g_mkdir_with_parents(options->record_links, 0777))
    return spinach_report_error("cannot make the folder \"%s\": %s", options->record_links, g_strerror(errno));
  if (!options->run_dir) return true;
  g_autofree char *path = g_build_filename(options->run_dir, "statistics.json", NULL);
  return can_write(path, true);
}

int spinach_results_deliver(const char *ended) {
  const spinach_options *options = spinach_run_options();
  double seconds = spinach_host_seconds();
  const bool left = spinach_part_leave(*spinach_error_text, ended);
  spinach_progress_end();
  spinach_recorder_stop();
  const bool sound = (*spinach_error_text && !spinach_run_is_stuck()) ||
                     (machine->debug ? spinach_state_is_sound() : spinach_balance_check());
  if (machine->debug && sound && !*spinach_error_text) spinach_balance_note();
  spinach_finish();
  if (spinach_run_repeats()) {
    spinach_results_abandon();
    return 1;
  }
  const bool failed = *spinach_error_text;
  bool fine = (failed || spinach_measure_end(ended)) && !failed && left;
  print_states(options);
  if (!options->quiet) spinach_statistics_table(stdout);
  if (!options->quiet) spinach_measure_table(stdout);
  fine &= spinach_wave_end();
  fine &= spinach_streams_commit();
  fine &= spinach_recorder_end();
  fine &= write_results(options, ended, seconds);
  fine &= end_samples();
  fine &= !options->state_hashes || spinach_state_hash_end(options->state_hashes);
  if (options->check_idle) spinach_idle_check_report(stderr);
  if (options->check_idle_of) spinach_check_idle_report(stderr, options->check_idle_of);
  if (options->check_replay) spinach_replay_check_report(stderr);
  if (options->check_replay) spinach_repeats_report(stderr);
  if (!failed && (!options->quiet || spinach_stop_status))
    fprintf(stderr, "%s: %s after %g ms of simulated time (%.2f M cycles/s)\n", spinach_program, ended,
            (double)spinach_now_ns() / 1e6,
            seconds > 0 ? (double)spinach_cycles(spinach_fastest_clock()) / seconds / 1e6 : 0);
  g_autofree char *silence = failed || options->quiet ? NULL : spinach_run_silence();
  if (silence) fprintf(stderr, "%s: note: %s\n", spinach_program, silence);
  fine &= spinach_results_flush(); // last, since that a line was lost shows only when it was printed
  return fine ? (spinach_interrupted() ? 128 + spinach_interrupted() : spinach_stop_status) : 1;
}
