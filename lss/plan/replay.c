// Replay: which clusters can be looked up in place of being stepped (lss/runtime/replay/replay.h), and which machines
// can be tracked for whole loops (lss/runtime/replay/repeats.h).
//
// A cycle of such a cluster is a function of its behaviour state and its inputs.  That holds where the C of all its
// leaves is free of time and of the world outside.
#include "lss/plan/plan.h"

#include <string.h>

enum {
  MOST_STATE = 8192, // bytes of behaviour state that are compared
  MOST_FLAGS = 62,   // some, enable and ack of all that comes in: the runtime has a word for them
  MOST_SEGMENTS = 4,
  MOST_NOTE = 16,      // bytes of an element of a trace
  LEAST_MEMORY = 1024, // bytes of a memory of which only what is read is compared
};

static bool is_integer(const Type *type) {
  return type->kind == TYPE_INT || type->kind == TYPE_UINT || type->kind == TYPE_BITS;
}

static bool holds_stream(const Type *type) {
  for (guint i = 0; type->fields && i < type->fields->len; i++)
    if (holds_stream(((Field *)type->fields->pdata[i])->type)) return true;
  return type->kind == TYPE_STREAM || (type->element && holds_stream(type->element));
}

// Words of larger memories count where they are read.
bool plan_is_compared(const StateField *field) {
  return field->kind == STATE_BEHAVIOUR || (field->kind == STATE_MEMORY && plan_field_size(field) < LEAST_MEMORY);
}

// A statistic that a cycle sets, and not only adds to, has no increment.
static bool reports_in_cycles(const ModuleSource *source) {
  for (guint i = 0; i < source->uses->len; i++) {
    const FieldUse *use = source->uses->pdata[i];
    if (!strcmp(use->word, "report") && strcmp(use->function, "init") != 0 && strcmp(use->function, "finish") != 0 &&
        strcmp(use->function, "statistics") != 0)
      return true;
  }
  return false;
}

// What in the leaf's code or state prevents replay; NULL when nothing does.
static const char *obstacle_of_leaf(const Plan *plan, const Instance *leaf, gsize *behaviour) {
  const ModuleSource *source = g_hash_table_lookup(plan->sources, leaf->leaf->c_file);
  if (leaf->leaf->crossing) return "is a crossing";
  for (guint i = 0; i < leaf->functions->len; i++)
    if (((Function *)leaf->functions->pdata[i])->partial) return "has partial handlers";
  if (source->timed || plan->leaves[leaf->id].timed_by_user) return "asks for the time";
  if (reports_in_cycles(source)) return "sets a statistic by report()";
  for (guint i = 0; i < leaf->state->len; i++) {
    const StateField *field = leaf->state->pdata[i];
    if (holds_stream(field->type)) return "has a stream";
    if (field->kind == STATE_COUNTER && !is_integer(field->type)) return "has a statistic that is no integer";
    if (field->kind == STATE_TRACE && type_size(field->type, NULL) > MOST_NOTE) return "notes too much in a trace";
    if (plan_is_compared(field)) *behaviour += plan_field_size(field);
  }
  if (*behaviour > MOST_STATE) return "brings more state than is compared";
  for (guint i = 0; i < plan->netlist->collectors->len; i++) {
    const Collector *collector = plan->netlist->collectors->pdata[i];
    if (!collector->on_connections && plan_collects(plan, collector, leaf)) return "has events that are collected";
  }
  return NULL;
}

static guint count_flags(const Plan *plan, const Cluster *cluster) {
  guint flags = 0;
  const GPtrArray *wires = plan_of(plan, cluster)->border;
  for (guint i = 0; i < wires->len; i++) flags += ((Wire *)wires->pdata[i])->writer->cluster != cluster;
  return flags;
}

// Why the cluster is not replayed; NULL when it can be.
static const char *find_obstacle(const Plan *plan, const Cluster *cluster) {
  if (plan->debug) return "debug builds step everything";
  if (!cluster->instance) return "it is what remains of the machine";
  if (cluster->probes->len || plan->netlist->waves->len) return "its signals are observed";
  if (plan_of(plan, cluster)->clocks->len != 1) return "it is on several clocks";
  if (cluster->segments->len > MOST_SEGMENTS)
    return g_strdup_printf("a cycle of it has %u segments", cluster->segments->len);
  gsize behaviour = 0;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    const char *why = obstacle_of_leaf(plan, leaf, &behaviour);
    if (why) return g_strdup_printf("%s %s", leaf->path, why);
  }
  if (!behaviour) return "it has no state";
  const guint flags = count_flags(plan, cluster);
  if (flags > MOST_FLAGS) return g_strdup_printf("%u signals come over its border", flags);
  return NULL;
}

static const char *find_loops_obstacle(const Plan *plan) {
  const Netlist *netlist = plan->netlist;
  if (plan->debug) return "debug builds step everything";
  if (netlist->collectors->len) return "events are collected";
  if (netlist->waves->len) return "signals are observed";
  bool replays = false;
  for (guint i = 0; i < plan->schedule->clusters->len; i++) {
    const Cluster *cluster = plan->schedule->clusters->pdata[i];
    if (cluster->probes->len) return "signals are observed";
    if (!cluster->instance) continue;
    const ClusterPlan *found = plan_of(plan, cluster);
    if (found->obstacle && !found->sleeps) return "a group of instances is always stepped";
    replays |= !found->obstacle;
  }
  return replays ? NULL : "nothing in it is replayed";
}

void plan_find_obstacles(Plan *plan) {
  for (guint i = 0; i < plan->schedule->clusters->len; i++)
    plan->clusters[i].obstacle = find_obstacle(plan, plan->schedule->clusters->pdata[i]);
  plan->loops_obstacle = find_loops_obstacle(plan);
}
