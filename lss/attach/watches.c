// Watches: counters of events, which conditions of a run wait for.
#include "lss/attach/instrument.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/value.h"
#include "lss/runtime/text/number.h"

#include <string.h>

static Value *watch_code(Location location, const char *text) {
  Value *code = value_new(VALUE_CODE, location);
  code->string = text;
  return code;
}

// What is watched: PATH.EVENT, PATH.EVENT(ARGUMENT == N), or marker(N), which is the event `marker` of whatever
// instance with that number.
typedef struct {
  const char *pattern, *event;
  const char *argument, *relation; // NULL: none is compared
  gint64 number;
  const char *name; // as conditions of runs call it, which have the number in decimal
} Watch;

static bool read_watch(const char *text, Watch *watch) {
  g_autoptr(GRegex) form =
      g_regex_new("^([^()]*)\\.([^.()]+)(?:\\((\\w+) (==|!=|<=|>=|<|>) (-?\\w+)\\))?$", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  const char *marker = text + strlen("marker(");
  uint64_t number;
  *watch = (Watch){0};
  if (g_str_has_prefix(text, "marker(") && number_take_count(&marker, UINT32_MAX, &number) && !strcmp(marker, ")")) {
    *watch = (Watch){"**", "marker", "number", "==", (gint64)number, arena_printf("marker(%u)", (unsigned)number)};
    return true;
  }
  if (!g_regex_match(form, text, 0, &match)) return false;
  g_auto(GStrv) parts = g_match_info_fetch_all(match);
  watch->pattern = arena_strdup(parts[1]);
  watch->event = arena_strdup(parts[2]);
  watch->name = arena_strdup(text);
  if (g_strv_length(parts) < 6 || !*parts[3]) return true;
  watch->argument = arena_strdup(parts[3]);
  watch->relation = arena_strdup(parts[4]);
  const char *error;
  if (!number_read_integer(parts[5], &watch->number, &error)) return false;
  watch->name = arena_printf("%s.%s(%s %s %" G_GINT64_FORMAT ")", watch->pattern, watch->event, watch->argument,
                             watch->relation, watch->number);
  return true;
}

static bool has_number(const Event *event, const char *argument) {
  for (guint i = 0; i < event->arguments->len; i++) {
    const Field *field = event->arguments->pdata[i];
    if (!strcmp(field->name, argument)) return type_is_whole_number(field->type);
  }
  return false;
}

// Leaves those whose event has the argument that is compared; reports when there are none.
static void keep_comparable(Collector *collector, const Watch *watch) {
  if (!watch->argument || !(collector->instances->len + collector->connections->len)) return;
  g_ptr_array_set_size(collector->connections, 0); // whose events have no arguments
  for (guint i = collector->instances->len; i-- > 0;)
    if (!has_number(find_event(collector->instances->pdata[i], watch->event), watch->argument))
      g_ptr_array_remove_index(collector->instances, i);
  if (!collector->instances->len)
    problem(collector->location, "no-match", "no event `%s` there has an argument `%s` that is a number", watch->event,
            watch->argument);
}

// A counter that a condition of the simulator's command line waits for.  When it gets to the goal, the run pauses.
void attach_watch(const char *text) {
  const guint number = compile->netlist->watches->len;
  const char *file = g_intern_string("--watch");
  diag_register_text(file, text);
  const Location location = {file, 1, 1, 1, (int)strlen(text) + 1};
  Watch watch;
  if (!read_watch(text, &watch)) {
    problem(location, "no-match", "an event to watch is written PATH.EVENT, PATH.EVENT(ARGUMENT == N) or marker(N)");
    return;
  }
  g_ptr_array_add(compile->netlist->watches, (gpointer)watch.name);
  const char *counts = "++self->n";
  if (watch.argument)
    counts = arena_printf("(int64_t)%s %s %" G_GINT64_FORMAT "LL && ++self->n", watch.argument, watch.relation,
                          watch.number);
  Collector *collector = arena_new(Collector);
  *collector =
      (Collector){.name = arena_printf("spinach_watch_%u", number),
                  .c_name = arena_printf("spinach_watch_%u", number),
                  .owner = compile->netlist->instances->pdata[0],
                  .pattern = watch.pattern,
                  .event = watch.event,
                  .shared = true,
                  .declare = watch_code(location, "uint64_t n;"),
                  .init = watch_code(location, arena_printf("spinach_watches[%u].count = &self->n;", number)),
                  .record = watch_code(
                      location, arena_printf("if (%s >= spinach_watches[%u].goal) spinach_stopping |= SPINACH_PAUSE;",
                                             counts, number)),
                  .on_connections = is_connection_event(watch.event),
                  .instances = arena_array(),
                  .connections = arena_array(),
                  .location = location};
  g_autoptr(GPtrArray) events = g_ptr_array_new();
  bool any = false;
  if (collector->on_connections)
    attach_to_connections(collector);
  else
    attach_to_instances(collector, compile->netlist->instances->pdata[0], events, &any);
  if (collector->connections->len + collector->instances->len == 0)
    problem(location, "no-match", "nothing that matches \"%s\" has an event `%s`%s", watch.pattern, watch.event,
            did_you_mean(diag_suggestion(watch.event, events)));
  keep_comparable(collector, &watch);
  g_ptr_array_add(compile->netlist->collectors, collector);
}
