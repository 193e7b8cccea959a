// Sleeping clusters: one whose last cycle left its state as it was, and to which nothing comes over the border but the
// numbers that came in that cycle, would only repeat it.  It is not stepped, and the signals that it drives stay in its
// scratch: a processor that waits for its memory costs a comparison.
//
// Whether a cycle changes anything is tried now and then, by comparing the state before and after it
// (lss/runtime/engine/gate.h). Leaves whose state is too large to be compared say in each cycle that it plays no role
// (`unchanged`), those that use the time say how long they are idle (next_event); where one can do neither,
// the cluster does not sleep.  Debug builds step everything, and so find modules that
// say `unchanged` too early.
#include "lss/plan/plan.h"

static bool may_sleep(const Instance *leaf) {
  if (leaf->leaf->crossing) return false;
  for (guint i = 0; i < leaf->functions->len; i++)
    if (((Function *)leaf->functions->pdata[i])->partial) return false;
  return true;
}

// How it is known that nothing but inputs and compared state lets the leaf do something else: from its C, because it
// says so in each cycle, or because its next_event says when it will.
typedef enum { BY_CODE, BY_UNCHANGED, BY_NEXT_EVENT, UNKNOWN } Stability;

// Whether time passing makes it do something else.
static bool is_timed(const ModuleSource *source) {
  return source->timed || source->waits;
}

static Stability stability(const Plan *plan, const Instance *leaf) {
  const ModuleSource *source = g_hash_table_lookup(plan->sources, leaf->leaf->c_file);
  if (plan_is_timed_by_user(leaf)) return UNKNOWN;
  if (!plan_find_function(leaf, FUNCTION_PHASE_END)) return is_timed(source) ? UNKNOWN : BY_CODE;
  const bool large = plan_large_state(leaf), bounded = plan_find_function(leaf, FUNCTION_NEXT_EVENT);
  if (!large && !is_timed(source)) return bounded || source->unchanged ? BY_CODE : UNKNOWN;
  if (source->unchanged) return BY_UNCHANGED;
  return bounded && !large ? BY_NEXT_EVENT : UNKNOWN;
}

static bool sleeps(const Plan *plan, const Cluster *cluster) {
  if (plan->debug || !cluster->instance || cluster->probes->len) return false;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (!may_sleep(leaf) || stability(plan, leaf) == UNKNOWN) return false;
    for (guint k = 0; k < plan->netlist->collectors->len; k++) {
      const Collector *collector = plan->netlist->collectors->pdata[k];
      if (!collector->on_connections && plan_collects(plan, collector, leaf)) return false;
    }
  }
  g_autoptr(GPtrArray) clocks = plan_cluster_clocks(cluster);
  return clocks->len == 1;
}

bool plan_sleeps(const Plan *plan, const Cluster *cluster) {
  gpointer known;
  if (g_hash_table_lookup_extended(plan->sleeps, cluster, NULL, &known)) return GPOINTER_TO_INT(known);
  const bool may = sleeps(plan, cluster);
  g_hash_table_insert(plan->sleeps, (gpointer)cluster, GINT_TO_POINTER(may));
  return may;
}

bool plan_says_unchanged(const Plan *plan, const Cluster *cluster, const Instance *leaf) {
  return plan_sleeps(plan, cluster) && stability(plan, leaf) == BY_UNCHANGED;
}

bool plan_says_next_event(const Plan *plan, const Instance *leaf) {
  return stability(plan, leaf) == BY_NEXT_EVENT;
}
