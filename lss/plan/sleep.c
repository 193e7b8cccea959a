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

// Behaviour given by the user of a module, of which the module cannot know that it asks for the time.
static bool is_timed_by_user(const Instance *leaf) {
  for (guint i = 0; i < leaf->userpoints->len; i++) {
    const Userpoint *userpoint = leaf->userpoints->pdata[i];
    if (userpoint->code && module_source_uses_time(userpoint->code->string)) return true;
  }
  return false;
}

// Whether time passing makes it do something else.
static bool is_timed(const ModuleSource *source) {
  return source->timed || source->waits;
}

static Stability find_stability(const Plan *plan, const Instance *leaf) {
  const ModuleSource *source = g_hash_table_lookup(plan->sources, leaf->leaf->c_file);
  if (plan->leaves[leaf->id].timed_by_user) return UNSTABLE;
  if (!plan_find_function(leaf, FUNCTION_PHASE_END)) return is_timed(source) ? UNSTABLE : BY_CODE;
  const bool large = plan_large_state(leaf), bounded = plan_find_function(leaf, FUNCTION_NEXT_EVENT);
  if (!large && !is_timed(source)) return bounded || source->unchanged ? BY_CODE : UNSTABLE;
  if (source->unchanged) return BY_UNCHANGED;
  return bounded && !large ? BY_NEXT_EVENT : UNSTABLE;
}

static bool sleeps(const Plan *plan, const Cluster *cluster) {
  if (plan->debug || !cluster->instance || cluster->probes->len) return false;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (!may_sleep(leaf) || plan->leaves[leaf->id].stability == UNSTABLE) return false;
    for (guint k = 0; k < plan->netlist->collectors->len; k++) {
      const Collector *collector = plan->netlist->collectors->pdata[k];
      if (!collector->on_connections && plan_collects(plan, collector, leaf)) return false;
    }
  }
  return plan_of(plan, cluster)->clocks->len == 1;
}

void plan_find_sleeps(Plan *plan) {
  for (guint i = 0; i < plan->netlist->leaves->len; i++) {
    const Instance *leaf = plan->netlist->leaves->pdata[i];
    plan->leaves[leaf->id].timed_by_user = is_timed_by_user(leaf);
    plan->leaves[leaf->id].stability = find_stability(plan, leaf);
  }
  for (guint i = 0; i < plan->schedule->clusters->len; i++)
    plan->clusters[i].sleeps = sleeps(plan, plan->schedule->clusters->pdata[i]);
}
