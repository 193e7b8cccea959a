// What a build is doing, for people who wait; see working.h.
#include "lss/build/working.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 2, EACH_LINE = 10 }; // seconds

void working_begin(Working *working, const char *title, guint total) {
  *working = (Working){.title = title, .total = total, .began = g_get_monotonic_time()};
  g_mutex_init(&working->lock);
  g_cond_init(&working->changed);
}

void working_step(Working *working) {
  g_mutex_lock(&working->lock);
  working->done++;
  g_cond_signal(&working->changed);
  g_mutex_unlock(&working->lock);
}

static void show(Working *working, bool terminal) {
  const gint64 now = g_get_monotonic_time();
  const gint64 seconds = (now - working->began) / G_USEC_PER_SEC, since = (now - working->shown) / G_USEC_PER_SEC;
  if (seconds < FIRST || (!terminal && (working->shown ? since : seconds) < EACH_LINE)) return;
  fprintf(stderr, "%slss: %s: %u of %u units done, %d s%s", terminal ? "\r\033[K" : "", working->title, working->done,
          working->total, (int)seconds, terminal ? "" : "\n");
  fflush(stderr);
  working->shown = now;
}

void working_end(Working *working) {
  const bool off = !g_strcmp0(g_getenv("LSS_PROGRESS"), "off"), terminal = isatty(STDERR_FILENO);
  g_mutex_lock(&working->lock);
  while (working->done < working->total) {
    g_cond_wait_until(&working->changed, &working->lock, g_get_monotonic_time() + G_USEC_PER_SEC / 4);
    if (!off && working->done < working->total) show(working, terminal);
  }
  g_mutex_unlock(&working->lock);
  if (working->shown && terminal) fputs("\r\033[K", stderr);
  g_mutex_clear(&working->lock);
  g_cond_clear(&working->changed);
}
