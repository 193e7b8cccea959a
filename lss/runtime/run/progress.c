// How far a run is, on a terminal and for tools; see progress.h.
#include "lss/runtime/run/progress.h"

#include "emulib/program/input_file.h"
#include "lss/runtime/text/json.h"

#include <math.h>
#include <unistd.h>

static gint64 began, shown;
static uint64_t shown_cycles;
static bool drawn, hidden;

static const spinach_options *options;

static void say(const char *text) {
  const bool wanted = options->progress || (options->interactive && !options->quiet);
  if (!wanted || options->progress_json || !isatty(STDERR_FILENO)) return;
  fprintf(stderr, "\r\033[K%s: %s", spinach_program, text);
  fflush(stderr);
  drawn = true;
}

// Smaller ones are there at once.
static void say_file(const char *path, gsize size) {
  enum { LARGE = 16 << 20 };
  if (size < LARGE) return;
  g_autofree char *text = g_strdup_printf("reading \"%s\" (%zu MiB)", path, (size_t)size >> 20);
  say(text);
}

void spinach_progress_say_files(void) {
  input_file_reads = say_file;
}

static void clear(void) {
  if (drawn) fprintf(stderr, "\r\033[K");
  drawn = false;
}

void spinach_progress_begin(const spinach_options *given) {
  options = given;
  spinach_progress_shown = (struct spinach_progress_shown){say, clear};
}

void spinach_progress_start(void) {
  clear();
  began = shown = g_get_monotonic_time();
  hidden = !options->progress_json && isatty(STDERR_FILENO) && spinach_streams_at_terminal();
}

double spinach_host_seconds(void) {
  return (double)(g_get_monotonic_time() - began) / 1e6;
}

double spinach_progress_share(void) {
  double part = -1;
  if (options->cycles != UINT64_MAX) part = (double)spinach_cycles(options->clock) / (double)MAX(options->cycles, 1);
  if (options->until_tick != UINT64_MAX)
    part = MAX(part, (double)spinach_time.now / (double)MAX(options->until_tick, 1));
  return part >= 0 ? part : spinach_streams_share();
}

static void draw(double rate) {
  const double part = spinach_progress_share();
  fprintf(stderr, "\r\033[K%.3f ms simulated   %.2f M cycles/s", (double)spinach_now_ns() / 1e6, rate / 1e6);
  if (part >= 0) fprintf(stderr, "   %3.0f %%", MIN(part, 1.0) * 100);
  fflush(stderr);
  drawn = true;
}

// In one piece, since the machine may print to the same file.
static void write_line(double rate) {
  const double part = spinach_progress_share();
  Json json;
  json_start_line(&json);
  json_open(&json, '{');
  json_key(&json, "time_fs");
  json_wide(&json, spinach_now_fs());
  json_open_member(&json, "cycles", '{');
  for (uint32_t i = 0; i < spinach_machine_table.clock_count; i++) {
    json_key(&json, spinach_machine_table.clocks[i].name);
    json_uint(&json, spinach_cycles((int32_t)i));
  }
  json_close(&json, '}');
  json_key(&json, "per_second");
  json_real(&json, rate);
  json_key(&json, "share");
  json_real(&json, part >= 0 ? MIN(part, 1.0) : NAN);
  json_close(&json, '}');
  g_autofree char *text = json_finish(&json);
  fputs(text, stderr);
}

void spinach_progress_show(void) {
  gint64 now = g_get_monotonic_time();
  if (hidden || now - shown < 200000) return;
  const uint64_t cycles = spinach_cycles(spinach_fastest_clock());
  const double rate = (double)(cycles - shown_cycles) / ((double)(now - shown) / 1e6);
  if (options->progress_json)
    write_line(rate);
  else
    draw(rate);
  shown = now;
  shown_cycles = cycles;
}

void spinach_progress_end(void) {
  clear();
  const double seconds = spinach_host_seconds();
  if (options->progress && options->progress_json)
    write_line(seconds > 0 ? (double)spinach_cycles(spinach_fastest_clock()) / seconds : 0);
}
