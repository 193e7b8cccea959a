// What a command is doing, for people who wait; see working.h.
#include "lss/base/working.h"

#include "lss/runtime/text/number.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST = 2, EACH_LINE = 10, LONGEST = 1000000 }; // seconds
enum { SHOWN = 2 };                                    // names of parts, for a line that fits a terminal

static struct {
  GMutex lock;
  bool enabled, terminal, drawn;
  uint64_t first; // seconds before anything is shown
  gint64 enabled_at;
  const char *title; // NULL between stages
  const char *parts;
  guint total;
  gint64 began, shown; // the stage; the last line
} working;
static guint done;       // parts, which any thread counts
static GPtrArray *begun; // names of those that are not done, under the lock

static guint64 seconds_since(gint64 instant) {
  return (guint64)(g_get_monotonic_time() - instant) / G_USEC_PER_SEC;
}

static void erase(void) {
  if (working.drawn) fputs("\r\033[K", stderr);
  working.drawn = false;
}

// " root_0, pipe_0 and 3 more", those that began first; or nothing.
static char *names_begun(void) {
  GString *text = g_string_new(NULL);
  const guint count = begun ? begun->len : 0;
  for (guint i = 0; i < MIN(count, SHOWN); i++)
    g_string_append_printf(text, "%s %s", i ? "," : "", (const char *)begun->pdata[i]);
  if (count > SHOWN) g_string_append_printf(text, " and %u more", count - SHOWN);
  return g_string_free(text, FALSE);
}

static void show(void) {
  const gint64 last = working.shown ? working.shown : working.enabled_at;
  if (seconds_since(working.enabled_at) < working.first || (!working.terminal && seconds_since(last) < EACH_LINE))
    return;
  g_autofree char *count = NULL, *names = names_begun();
  const guint now = g_atomic_int_get(&done);
  if (working.total)
    count = g_strdup_printf(": %u of %u %s done", now, working.total, working.parts);
  else if (working.parts)
    count = g_strdup_printf(": %u %s", now, working.parts);
  fprintf(stderr, "%slss: %s%s%s, %d s%s", working.terminal ? "\r\033[K" : "", working.title, names, count ? count : "",
          (int)seconds_since(working.began), working.terminal ? "" : "\n");
  fflush(stderr);
  working.shown = g_get_monotonic_time();
  working.drawn = working.terminal;
}

static gpointer watch(gpointer unused) {
  (void)unused;
  for (;;) {
    g_usleep(G_USEC_PER_SEC / 4);
    g_mutex_lock(&working.lock);
    if (working.title) show();
    g_mutex_unlock(&working.lock);
  }
  return NULL;
}

bool working_enable(void) {
  const char *wanted = g_getenv("LSS_PROGRESS"), *error;
  if (working.enabled || !g_strcmp0(wanted, "off")) return true;
  working.first = FIRST;
  if (wanted && *wanted && !number_read_count(wanted, 0, LONGEST, &working.first, &error)) {
    fprintf(stderr, "lss: LSS_PROGRESS: %s; it is seconds, or off\n", error);
    return false;
  }
  working.enabled = true;
  working.terminal = isatty(STDERR_FILENO);
  working.enabled_at = g_get_monotonic_time();
  return true;
}

void working_begin(const char *title, const char *parts, guint total) {
  static bool started;
  if (!working.enabled) return;
  g_mutex_lock(&working.lock);
  working.title = title;
  working.parts = parts;
  working.total = total;
  working.began = g_get_monotonic_time();
  g_atomic_int_set(&done, 0);
  show();
  g_mutex_unlock(&working.lock);
  if (!started) g_thread_unref(g_thread_new("working", watch, NULL));
  started = true;
}

void working_step(void) {
  g_atomic_int_inc(&done);
}

void working_part_begin(const char *name) {
  if (!working.enabled) return;
  g_mutex_lock(&working.lock);
  if (!begun) begun = g_ptr_array_new();
  g_ptr_array_add(begun, (gpointer)name);
  g_mutex_unlock(&working.lock);
}

void working_part_done(const char *name) {
  working_step();
  if (!working.enabled) return;
  g_mutex_lock(&working.lock);
  g_ptr_array_remove(begun, (gpointer)name);
  g_mutex_unlock(&working.lock);
}

void working_end(void) {
  if (!working.enabled) return;
  g_mutex_lock(&working.lock);
  working.title = NULL;
  erase();
  g_mutex_unlock(&working.lock);
}
