// How a run ends before its time: errors of modules and of the engine, faults in C, sim_exit; and warnings.
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"
#include "lss/runtime/text/hexdump.h"

#include <glib.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

const char *spinach_error_text = "";
jmp_buf spinach_escape;
void (*spinach_on_error)(const char *text), (*spinach_on_fault)(const char *text);
void (*spinach_on_views)(FILE *out, int32_t instance);
int (*spinach_on_end)(const char *ended);
void (*spinach_on_leave)(void);
void (*spinach_on_remark)(const char *path, const char *text);
void (*spinach_on_wait)(uint32_t id, const char *port, int lane, const char *text);

static const spinach_machine *const machine = &spinach_machine_table;
static char stop_words[1024];
static char *difference; // what spinach_difference() left for the error that follows

// ---- Messages -----------------------------------------------------------------------------------------------------

static _Noreturn void leave(int status) {
  spinach_streams_abandon();
  fflush(stdout);
  if (spinach_on_leave) spinach_on_leave();
  _exit(status);
}

static void say_where(uint32_t id, const char *word) {
  const char *path = spinach_path(id);
  fflush(stdout);
  fprintf(stderr, "%s: %s: %s%s", spinach_program, word, path, *path ? ": " : "");
}

// The instance that an error or a warning is of; -1: none.
static int32_t instance_of(uint32_t id) {
  const uint32_t connection = id & ~SPINACH_CONNECTION_ID;
  if (id & SPINACH_CONNECTION_ID)
    return connection < machine->connection_count ? machine->connections[connection].to_instance : -1;
  return id < machine->instance_count ? (int32_t)id : -1;
}

// The clock whose cycle it is, where there are several.
static void say_when(uint32_t id) {
  const int32_t instance = instance_of(id);
  const bool named = machine->clock_count > 1 && instance >= 0;
  fprintf(stderr, " (at %llu ns, cycle %llu%s%s)\n", (unsigned long long)spinach_now_ns(),
          (unsigned long long)spinach_time.cycle, named ? " of " : "",
          named ? machine->clocks[machine->instances[instance].clock].name : "");
}

void spinach_set_error(const char *text) {
  if (!*spinach_error_text && !(spinach_error_text = strdup(text))) spinach_error_text = "an error";
}

enum { PRINTS_MESSAGE, PRINTS_TIME, PRINTS_VIEWS };

// The run is over with an error, which is reported; results so far are delivered.  An error in a finish function
// ends that function, and after an earlier error it is not reported.
static _Noreturn void fail(uint32_t id, int prints, const char *format, va_list arguments) {
  if (spinach_on_remark && prints != PRINTS_TIME) {
    char *remark = g_strdup_vprintf(format, arguments);
    spinach_on_remark(spinach_path(id), remark);
    g_free(remark);
    longjmp(spinach_escape, 1);
  }
  if (*spinach_error_text) {
    if (spinach_phase == SPINACH_FINISHES) longjmp(spinach_escape, 1);
    leave(1);
  }
  if (spinach_phase == SPINACH_RUNS && spinach_hooks.synchronize) spinach_hooks.synchronize();
  const char *path = spinach_path(id);
  char *message = NULL, *text = NULL;
  if (vasprintf(&message, format, arguments) < 0 || asprintf(&text, "%s%s%s", path, *path ? ": " : "", message) < 0)
    leave(1);
  if (spinach_on_error && spinach_phase == SPINACH_RUNS) spinach_on_error(text);
  fflush(stdout);
  fprintf(stderr, "%s: error: %s", spinach_program, text);
  if (spinach_phase == SPINACH_STARTS || spinach_phase == SPINACH_OVER || !prints) { // of wrong input, nothing is kept
    fputc('\n', stderr);
    spinach_set_error(text);
    leave(1);
  }
  say_when(id);
  spinach_set_error(text);
  if (difference) fputs(difference, stderr);
  if (prints == PRINTS_VIEWS && instance_of(id) >= 0) spinach_on_views(stderr, instance_of(id));
  free(message);
  free(text);
  if (spinach_phase == SPINACH_FINISHES) longjmp(spinach_escape, 1);
  spinach_complete_clocks();
  leave(spinach_on_end(spinach_error_text));
}

void spinach_difference(const uint8_t *expected, size_t expected_bytes, const uint8_t *actual, size_t actual_bytes) {
  free(difference);
  difference = spinach_hexdump_difference(expected, expected_bytes, actual, actual_bytes);
}

void spinach_error(uint32_t id, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(id, PRINTS_VIEWS, format, arguments);
}

void spinach_input_error(uint32_t id, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(id, PRINTS_MESSAGE, format, arguments);
}

void spinach_warn(uint32_t id, const char *file, int line, const char *format, ...) {
  // Once per place and instance; few places warn, so a list will do.
  static struct {
    const char *file;
    int line;
    uint32_t id;
  } said[256];
  static unsigned count;
  spinach_effects++;
  for (unsigned i = 0; i < count; i++)
    if (said[i].line == line && said[i].id == id && !strcmp(said[i].file, file)) return;
  if (count == sizeof said / sizeof *said) return;
  said[count].file = file, said[count].line = line, said[count++].id = id;
  va_list arguments;
  va_start(arguments, format);
  say_where(id, "warning");
  vfprintf(stderr, format, arguments);
  say_when(id);
  va_end(arguments);
}

void spinach_stop(uint32_t id, int32_t status, const char *format, ...) {
  spinach_effects++;
  if (spinach_stopping & SPINACH_STOP) return;
  const int byte = status & 255;
  spinach_stop_status = status && !byte ? 1 : byte;
  va_list arguments;
  va_start(arguments, format);
  int n = snprintf(stop_words, sizeof stop_words, "%s%s", spinach_path(id), *spinach_path(id) ? ": " : "");
  vsnprintf(stop_words + n, sizeof stop_words - (size_t)n, format, arguments);
  va_end(arguments);
  spinach_stop_reason = stop_words;
  spinach_stopping |= SPINACH_STOP;
}

void spinach_waits_for(uint32_t id, const char *port, int lane, const char *format, ...) {
  if (!spinach_on_wait) return;
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  spinach_on_wait(id, port, lane, text);
}

void spinach_progress(void) {
  spinach_effects++;
  spinach_passing->last_progress = spinach_time.now;
}

static _Noreturn void broken(uint32_t id, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(id, PRINTS_TIME, format, arguments);
}

void spinach_unknown(uint32_t id, const char *signal) {
  broken(id, "%s is still unknown at the end of the cycle: its partial handlers wait for each other", signal);
}
void spinach_bad_lane(int lane, int lanes, uint32_t id, const char *port) {
  broken(id, "%s has lanes 0 to %d, there is no lane %d", port, lanes - 1, lane);
}
void spinach_bad_index(uint32_t id, long long index, const char *array, unsigned long elements, const char *file,
                       int line, int column) {
  broken(id, "index %lld of %s, which has %lu element%s, at %s:%d:%d", index, array, elements, elements == 1 ? "" : "s",
         file, line, column);
}
void spinach_bad_read(uint32_t id, const char *signal, int lane) {
  broken(id, "%s (lane %d) is read by a function that does not declare this lane, or before it is known", signal, lane);
}
void spinach_no_item(uint32_t id, const char *port, int lane) {
  broken(id, "item(%s) is asked for where nothing is sent (lane %d): ask some(%s) first, or use data(%s)", port, lane,
         port, port);
}
void spinach_bad_write(bool partial, uint32_t id, const char *signal, int lane) {
  broken(id,
         partial ? "%s (lane %d) oscillates: it changed after it was known, which no partial handler may do"
                 : "%s (lane %d) is driven a second time in one cycle",
         signal, lane);
}
void spinach_not_written(uint32_t id, const char *signal, int lane) {
  broken(id, "%s (lane %d) was not driven by the function that declares it", signal, lane);
}

// ---- Faults ----
#pragma weak __asan_init
void __asan_init(void);

// The process ends after a line.
static void say_fault(const char *text) {
  if (spinach_on_fault) spinach_on_fault(text);
  fflush(stdout);
  fprintf(stderr, "%s: error: %s\n", spinach_program, text);
  spinach_streams_remove();
}

// A module's C did what C forbids: say when and where, or how to find out where.
static void on_fault(int number) {
  static char text[1024];
  const char *function = spinach_running.function;
  const unsigned long long ns = spinach_now_ns();
  if (function)
    snprintf(text, sizeof text,
             "%s: the C of this module failed in %s (%s) at %llu ns; lss build --sanitize finds the line",
             spinach_path(spinach_running.id), function, strsignal(number), ns);
  else
    snprintf(text, sizeof text,
             "the C of a module failed (%s) at %llu ns; lss build --debug names the instance, --sanitize finds the "
             "line",
             strsignal(number), ns);
  say_fault(text);
  signal(number, SIG_DFL);
  raise(number);
}

// GLib ends a process that it has no memory for; that is a line of ours, and leaves no temporary files.
static void on_glib_error(const char *domain, GLogLevelFlags level, const char *message, gpointer data) {
  (void)domain, (void)level, (void)data;
  static char text[1024];
  const char *bytes = strstr(message, "failed to allocate ");
  snprintf(text, sizeof text, bytes ? "out of memory: %s more are needed" : "%s",
           bytes ? strpbrk(bytes, "0123456789") : message);
  say_fault(text);
  _exit(1);
}

static void on_fail(const char *text) {
  spinach_input_error(spinach_current(), "%s", text);
}

void spinach_watch_failures(void) {
  spinach_on_fail = on_fail;
  g_log_set_handler("GLib", G_LOG_LEVEL_ERROR | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION, on_glib_error, NULL);
}

static bool (*is_expected)(void *place);

static void on_access(int number, siginfo_t *info, void *context) {
  (void)context;
  if (!is_expected || !is_expected(info->si_addr)) on_fault(number);
}

void spinach_watch_faults(void) {
  if (__asan_init) return; // prints more
  const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) signal(faults[i], on_fault);
  const struct sigaction access = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &access, NULL);
}

bool spinach_expect_access(bool (*expected)(void *place)) {
  is_expected = expected;
  return !__asan_init;
}
