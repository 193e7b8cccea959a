// What runs can record (--record), events by the pattern of their paths or a kind of events by its name, and show in
// waves (--wave), connections.
#include "lss/attach/instrument.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/runtime/text/pattern.h"

#include <string.h>

#define FRAME_EVENTS "arrived", "played", "received", "sent", "drop", "done", "delivered", "released", "missed"
#define FRAME_BEGINS "begun", "dropped", "playing", "arriving"

// The kinds: their events, and in parentheses the argument that those have that are meant.
static const struct {
  const char *name;
  const char *events[24];
} kinds[] = {
    {"instructions", {"retire(pc)"}},
    {"memory", {"access(pc)"}},
    {"ports", {"transferred", "stalled", "cancelled"}},
    {"frames", {FRAME_EVENTS, FRAME_BEGINS}},
    {"profile",
     {"retire(pc)", "issue(pc)", "interlock(pc)", "turn(stall)", "access(pc)", "wait(pc)", "blocked(pc)",
      "requested(pc)", "fetched(pc)", FRAME_EVENTS}},
};

static bool has_argument(const Instance *instance, const char *event, const char *argument) {
  for (guint i = 0; i < instance->events->len; i++) {
    const Event *found = instance->events->pdata[i];
    if (strcmp(found->name, event) != 0) continue;
    for (guint k = 0; k < found->arguments->len; k++)
      if (!strcmp(((Field *)found->arguments->pdata[k])->name, argument)) return true;
  }
  return false;
}

static Collector *collector_new(const char *pattern, const char *event, Location location) {
  Collector *collector = arena_new(Collector);
  *collector = (Collector){.name = arena_printf("spinach_record_%u", compile->netlist->collectors->len),
                           .c_name = arena_printf("spinach_record_%u", compile->netlist->collectors->len),
                           .owner = compile->netlist->instances->pdata[0],
                           .pattern = pattern,
                           .event = event,
                           .recorded = true,
                           .on_connections = is_connection_event(event),
                           .instances = arena_array(),
                           .connections = arena_array(),
                           .location = location};
  return collector;
}

// Attaches to one event; says whether anything has it.
static bool record_event(const char *pattern, const char *event, const char *argument, Location location,
                         GPtrArray *events) {
  Collector *collector = collector_new(pattern, event, location);
  bool any = false;
  if (collector->on_connections)
    attach_to_connections(collector);
  else
    attach_to_instances(collector, compile->netlist->instances->pdata[0], events, &any);
  for (guint i = collector->instances->len; argument && i-- > 0;)
    if (!has_argument(collector->instances->pdata[i], event, argument))
      g_ptr_array_remove_index(collector->instances, i);
  if (!collector->connections->len && !collector->instances->len) return false;
  g_ptr_array_add(compile->netlist->collectors, collector);
  return true;
}

static bool record_kind(const char *name, const char *pattern, Location location, GPtrArray *events) {
  bool any = false;
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    for (gsize k = 0; !strcmp(kinds[i].name, name) && kinds[i].events[k]; k++) {
      const char *event = kinds[i].events[k], *open = strchr(event, '(');
      const char *argument = open ? arena_strndup(open + 1, strlen(open) - 2) : NULL;
      if (open) event = arena_strndup(event, (gsize)(open - event));
      any |= record_event(pattern, event, argument, location, events);
    }
  return any;
}

// All declared events.
static bool record_all(const char *pattern, Location location) {
  g_autoptr(GPtrArray) events = g_ptr_array_new();
  bool any = false, found = false;
  attach_to_instances(collector_new(pattern, "", location), compile->netlist->instances->pdata[0], events, &any);
  for (guint i = 0; i < events->len; i++) {
    bool seen = false;
    for (guint k = 0; k < i; k++) seen |= !strcmp(events->pdata[k], events->pdata[i]);
    g_autoptr(GPtrArray) ignored = g_ptr_array_new();
    if (!seen) found |= record_event(pattern, events->pdata[i], NULL, location, ignored);
  }
  return found;
}

static bool is_kind(const char *name) {
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (!strcmp(kinds[i].name, name)) return true;
  return false;
}

static const char *kind_suggestion(const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) g_ptr_array_add(names, (char *)kinds[i].name);
  return diag_suggestion(name, names);
}

// The event of an instance whose path is like the one that was given.
static const char *path_suggestion(const char *what) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < compile->netlist->leaves->len; i++) {
    const Instance *leaf = compile->netlist->leaves->pdata[i];
    for (guint k = 0; k < leaf->events->len; k++)
      g_ptr_array_add(names, arena_printf("%s.%s", leaf->path, ((Event *)leaf->events->pdata[k])->name));
  }
  return diag_suggestion(what, names);
}

void attach_record(const char *what) {
  g_ptr_array_add(compile->netlist->records, arena_strdup(what));
  const char *file = g_intern_string("--record");
  diag_register_text(file, what);
  const Location location = {file, 1, 1, 1, (int)strlen(what) + 1};
  const gsize word = strcspn(what, " ");
  const char *name = arena_strndup(what, word), *rest = arena_strdup(what + word + strspn(what + word, " "));
  const char *dot = strrchr(what, '.');
  const bool kind = is_kind(name);
  if (!kind && (!dot || *rest)) {
    problem(
        location, "no-match",
        "what is recorded is written PATH.EVENT, or `instructions`, `memory`, `ports`, `frames` or `profile` with or "
        "without a pattern after it%s",
        did_you_mean(kind_suggestion(name)));
    return;
  }
  const char *pattern = !kind ? arena_strndup(what, (gsize)(dot - what)) : *rest ? rest : "**";
  g_autoptr(GPtrArray) events = g_ptr_array_new();
  const char *event = dot ? arena_strdup(dot + 1) : "";
  const bool any = kind                  ? record_kind(name, pattern, location, events)
                   : !strcmp(event, "*") ? record_all(pattern, location)
                                         : record_event(pattern, event, NULL, location, events);
  if (any) return;
  if (kind)
    problem(location, "no-match", "nothing that matches \"%s\" has events of the kind `%s`", pattern, name);
  else
    problem(location, "no-match", "nothing that matches \"%s\" has an event `%s`%s", pattern, event,
            did_you_mean(events->len ? diag_suggestion(event, events) : path_suggestion(what)));
}

// ---- Connections whose signals generated code keeps in memory, where all others are local variables of its functions

// Ports by their names without lanes, for a suggestion.
static GPtrArray *port_names(void) {
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; i < compile->netlist->leaves->len; i++) {
    const Instance *leaf = compile->netlist->leaves->pdata[i];
    for (guint k = 0; k < leaf->ports->len; k++)
      g_ptr_array_add(names, arena_printf("%s.%s", leaf->path, ((Port *)leaf->ports->pdata[k])->name));
  }
  return names;
}

void attach_wave(const char *text) {
  const char *file = g_intern_string("--wave"), *pattern = arena_strndup(text, spinach_port_part(text));
  diag_register_text(file, text);
  GPtrArray *connections = compile->netlist->connections;
  bool any = false;
  for (guint i = 0; i < connections->len; i++) {
    Connection *connection = connections->pdata[i];
    const bool matches = connection_matches(pattern, connection);
    connection->visible |= matches;
    any |= matches;
  }
  g_ptr_array_add(compile->netlist->waves, arena_strdup(text));
  if (any) return;
  g_autoptr(GPtrArray) names = port_names();
  const Location location = {file, 1, 1, 1, (int)strlen(text) + 1};
  problem(location, "no-match", "no port matches \"%s\"%s", pattern, did_you_mean(diag_suggestion(pattern, names)));
}
