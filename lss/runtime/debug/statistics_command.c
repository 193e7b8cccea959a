// Statistics so far, and between a mark and now; see statistics_command.h.
#include "lss/runtime/debug/statistics_command.h"

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/observe/window.h"

#include <string.h>

static char *set_mark(Json *json, GString *out) {
  spinach_window_mark();
  if (!json) g_string_append_printf(out, "the mark is at %" G_GUINT64_FORMAT " ns\n", spinach_now_ns());
  return NULL;
}

static char *show(const char *pattern, bool since, Json *json, GString *out) {
  if (since && !spinach_window_is_marked()) return g_strdup("there is no mark: statistics mark sets one");
  if (json) json_open(json, '[');
  const guint count = since ? spinach_window_since(pattern, json, out) : spinach_window_now(pattern, json, out);
  if (json) json_close(json, ']');
  if (count) return NULL;
  return *pattern ? g_strdup_printf("no statistic matches \"%s\"", pattern)
                  : g_strdup("this machine has no statistics");
}

char *statistics_command(const char *words, Json *json, GString *out) {
  g_autofree char *line = g_strstrip(g_strdup(words));
  const gsize length = strcspn(line, " \t");
  const char *rest = line + length + strspn(line + length, " \t");
  if (length == strlen("mark") && g_str_has_prefix(line, "mark"))
    return *rest ? g_strdup("statistics mark takes nothing; statistics since [PATTERN] shows what was counted")
                 : set_mark(json, out);
  const bool since = length == strlen("since") && g_str_has_prefix(line, "since");
  return show(since ? rest : line, since, json, out);
}
