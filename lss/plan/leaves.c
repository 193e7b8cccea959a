// What C must know of one leaf: which signals its functions see, how its state is called and how large it is, and what
// collects its events.
#include "lss/plan/plan.h"

#include <string.h>

Function *plan_find_function(const Instance *instance, FunctionKind kind) {
  for (guint i = 0; i < instance->functions->len; i++) {
    Function *f = instance->functions->pdata[i];
    if (f->kind == kind) return f;
  }
  return NULL;
}

bool plan_has_hook(const Instance *leaf, const ModuleSource *source, const char *word) {
  for (guint i = 0; leaf->elsewhere_hooks && i < leaf->elsewhere_hooks->len; i++)
    if (!strcmp(leaf->elsewhere_hooks->pdata[i], word)) return false;
  for (guint i = 0; i < source->hooks->len; i++)
    if (!strcmp(((Hook *)source->hooks->pdata[i])->word, word)) return true;
  return false;
}

static bool names_signal(const GArray *signals, const Port *port, SignalKind kind) {
  for (guint i = 0; signals && i < signals->len; i++) {
    const Signal *s = &g_array_index(signals, Signal, i);
    if (s->port == port && s->kind == kind) return true;
  }
  return false;
}

static bool names_local(const GArray *signals, const Local *local) {
  for (guint i = 0; signals && i < signals->len; i++)
    if (g_array_index(signals, Signal, i).local == local && g_array_index(signals, Signal, i).kind == SIGNAL_LOCAL)
      return true;
  return false;
}

// All functions of one name, which are the lanes of an indexed handler, share their context's type.
#define ANY_LANE(instance, function, test)                                                                             \
  for (guint lane_i = 0; lane_i < (instance)->functions->len; lane_i++) {                                              \
    const Function *f = (instance)->functions->pdata[lane_i];                                                          \
    if (f->kind != (function)->kind || strcmp(f->name, (function)->name) != 0) continue;                               \
    if (test) return true;                                                                                             \
  }

bool plan_reads(const Instance *instance, const Function *function, const Port *port, SignalKind kind) {
  if (function->kind == FUNCTION_PHASE_END) return port->clock == function->clock || port->lanes->len == 0;
  if (port->lanes->len == 0) return true;
  ANY_LANE(instance, function, names_signal(f->reads, port, kind) || names_signal(f->bare_reads, port, kind))
  return false;
}

bool plan_writes(const Instance *instance, const Function *function, const Port *port, SignalKind kind) {
  if (function->kind == FUNCTION_PHASE_END) return false;
  bool own = kind == SIGNAL_ACK ? !port->output : port->output;
  if (port->lanes->len == 0) return own;
  ANY_LANE(instance, function, names_signal(f->writes, port, kind) || names_signal(f->bare_writes, port, kind))
  return false;
}

bool plan_reads_local(const Instance *instance, const Function *function, const Local *local) {
  if (function->kind == FUNCTION_PHASE_END) return true;
  ANY_LANE(instance, function, names_local(f->reads, local) || names_local(f->bare_reads, local))
  return false;
}

bool plan_writes_local(const Instance *instance, const Function *function, const Local *local) {
  ANY_LANE(instance, function, names_local(f->writes, local) || names_local(f->bare_writes, local))
  return false;
}

// Whether contexts carry known flags: for checks, or because a handler asks.
bool plan_flagged(const Plan *plan, const Instance *instance) {
  if (plan->debug) return true;
  for (guint i = 0; i < instance->functions->len; i++)
    if (((Function *)instance->functions->pdata[i])->partial) return true;
  return false;
}

// An array that is indexed with a variable stays in memory, and so does all that shares a variable with it: the lanes
// of a multiport are arrays beside the context, a single lane is inside.
bool plan_lanes_apart(int lanes) {
  return lanes > 1;
}

// ---- State -----------------------------------------------------------------------------------------------------

static const char *const prefixes[STATE_KINDS] = {
    [STATE_INSTANT] = "spinach_instant_", [STATE_STAMP] = "spinach_stamp_",   [STATE_COUNTER] = "spinach_counted_",
    [STATE_TRACE] = "spinach_trace_",     [STATE_MEMORY] = "spinach_memory_",
};

char *plan_field_name(const StateField *field) {
  const StateField *flight = field->kind == STATE_FLIGHT ? field : field->flight;
  if (flight)
    return g_strdup_printf("spinach_flight_%s.%s", flight->name,
                           field == flight              ? "places"
                           : field->kind == STATE_STAMP ? "arrives"
                                                        : "item");
  return g_strconcat(prefixes[field->kind] ? prefixes[field->kind] : "", field->name, NULL);
}

bool plan_is_ring(const StateField *field) {
  return field->kind == STATE_TRACE && field->dimensions->len;
}

gsize plan_field_size(const StateField *field) {
  gsize n = type_size(field->type, NULL);
  for (guint k = 0; k < field->dimensions->len; k++) n *= (gsize)MAX(g_array_index(field->dimensions, int, k), 1);
  return n;
}

static gsize state_size(const Instance *instance) {
  gsize size = 0;
  for (guint i = 0; i < instance->state->len; i++) size += plan_field_size(instance->state->pdata[i]);
  return size;
}

enum { LARGE_STATE = 2048 };

bool plan_large_state(const Instance *leaf) {
  return state_size(leaf) >= LARGE_STATE;
}

// ---- Events ----------------------------------------------------------------------------------------------------

void plan_find_collected(Plan *plan) {
  plan->collected = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < plan->netlist->collectors->len; i++) {
    Collector *collector = plan->netlist->collectors->pdata[i];
    const GPtrArray *all = collector->on_connections ? collector->connections : collector->instances;
    GHashTable *set = g_hash_table_new(NULL, NULL);
    for (guint k = 0; k < all->len; k++) g_hash_table_add(set, all->pdata[k]);
    g_hash_table_insert(plan->collected, collector, set);
  }
}

bool plan_collects(const Plan *plan, const Collector *collector, gconstpointer what) {
  return g_hash_table_contains(g_hash_table_lookup(plan->collected, collector), what);
}
