// One half of a crossing between two parts: a copy with the port, the functions and the state of its end.  What is
// elsewhere is compiled as well, as it is in the same C file, and never runs.
#include "lss/base/arena.h"
#include "lss/parts/parts.h"
#include "lss/plan/halves.h"

#include <string.h>

static GArray *signals_of(const GArray *signals, const GPtrArray *old, const GPtrArray *ports, bool connected) {
  GArray *copy = arena_garray(sizeof(Signal));
  for (guint i = 0; i < signals->len; i++) {
    Signal signal = g_array_index(signals, Signal, i);
    guint number;
    if (signal.port && g_ptr_array_find((GPtrArray *)old, signal.port, &number)) {
      signal.port = ports->pdata[number];
      if (connected && signal.lane >= 0 && !signal.port->lanes->len) continue;
    }
    g_array_append_val(copy, signal);
  }
  return copy;
}

static Function *function_of(const Function *function, Instance *half, const Instance *crossing) {
  Function *copy = arena_new(Function);
  *copy = *function;
  copy->instance = half;
  copy->reads = signals_of(function->reads, crossing->ports, half->ports, true);
  copy->writes = signals_of(function->writes, crossing->ports, half->ports, true);
  copy->bare_reads = signals_of(function->bare_reads, crossing->ports, half->ports, false);
  copy->bare_writes = signals_of(function->bare_writes, crossing->ports, half->ports, false);
  guint number;
  if (function->domain_port && g_ptr_array_find(crossing->ports, function->domain_port, &number))
    copy->domain_port = half->ports->pdata[number];
  return copy;
}

// The connection of the port at this end, to the half.
static void take_connection(Port *port, const Port *of) {
  const Connection *connection = of->lanes->pdata[0];
  Connection *copy = arena_new(Connection);
  *copy = *connection;
  *(port->output ? &copy->from : &copy->to) = port;
  Port *other = port->output ? copy->to : copy->from;
  other->lanes->pdata[port->output ? copy->to_lane : copy->from_lane] = copy;
  g_ptr_array_add(port->lanes, copy);
}

static void take_ports(Instance *half, const Instance *crossing, bool sends) {
  half->ports = arena_array();
  for (guint i = 0; i < crossing->ports->len; i++) {
    const Port *port = crossing->ports->pdata[i];
    Port *copy = arena_new(Port);
    *copy = *port;
    copy->instance = half;
    copy->lanes = arena_array();
    g_ptr_array_add(half->ports, copy);
    if (port->output == sends)
      copy->keys = NULL;
    else
      take_connection(copy, port);
  }
}

// Both ends' acknowledgments and enables that are true in every cycle stand in one declaration.
static bool belongs(const Halves *halves, const Function *function, Ends end) {
  return function->kind == FUNCTION_ALWAYS || halves_of_function(halves, function) & end;
}

Instance *half_new(const Instance *crossing, bool sends) {
  static const char *const hooks[] = {"skip", "statistics", "awaits", "check_state"};
  const Ends end = sends ? END_IN : END_OUT;
  const ModuleSource *source = module_source_read(crossing->leaf->c_file, NULL);
  if (!source) return NULL;
  g_autoptr(Halves) halves = halves_find(crossing, source);
  if (!halves_fine(halves)) return NULL;
  Instance *half = arena_new(Instance);
  *half = *crossing;
  half->state = arena_array();
  half->functions = arena_array();
  half->elsewhere = arena_array();
  half->elsewhere_state = arena_array();
  half->elsewhere_hooks = arena_array();
  half->elsewhere_events = arena_array();
  take_ports(half, crossing, sends);
  for (guint i = 0; i < half->ports->len; i++) {
    const Port *port = half->ports->pdata[i];
    if (port->lanes->len) half->clock = port->clock;
  }
  for (guint i = 0; i < half->ports->len; i++) ((Port *)half->ports->pdata[i])->clock = half->clock;
  for (guint i = 0; i < crossing->state->len; i++) {
    const StateField *field = crossing->state->pdata[i];
    g_ptr_array_add(halves_of_field(halves, field) == end ? half->state : half->elsewhere_state, (gpointer)field);
  }
  for (guint i = 0; i < crossing->functions->len; i++) {
    const Function *function = crossing->functions->pdata[i];
    g_ptr_array_add(belongs(halves, function, end) ? half->functions : half->elsewhere,
                    function_of(function, half, crossing));
  }
  for (guint i = 0; i < crossing->events->len; i++) {
    const Event *event = crossing->events->pdata[i];
    if (halves_of_event(halves, event->name) != end) g_ptr_array_add(half->elsewhere_events, (gpointer)event->name);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(hooks); i++)
    if (!(halves_of_hook(halves, hooks[i]) & end)) g_ptr_array_add(half->elsewhere_hooks, (gpointer)hooks[i]);
  return half;
}
