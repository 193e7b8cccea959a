// Leaps over cycles in which everything waits (lss/runtime/engine/leap.h): whether a machine takes them, and which
// instances prevent that.
//
// Outside of idle time an instance is asked when it acts next while its neighbours hold items for it, and its author
// may have relied on being stepped meanwhile.  So its word counts only where next_event says `unchanged`, which speaks
// of that.  Of any other instance the state is compared: what leaves it as it was, and does not ask for the time,
// repeats itself while its inputs stay as they are.  That is the rule of sleeping clusters (sleep.c).
#include "lss/plan/plan.h"

#include <string.h>

// Behaviour given by the user of a module, of which the module cannot know that it asks for the time.
static bool is_timed_by_user(const Instance *leaf) {
  for (guint i = 0; i < leaf->userpoints->len; i++) {
    const Userpoint *userpoint = leaf->userpoints->pdata[i];
    if (userpoint->code && module_source_uses_time(userpoint->code->string)) return true;
  }
  return false;
}

static bool is_collected(const Plan *plan, const Instance *leaf) {
  for (guint i = 0; i < plan->netlist->collectors->len; i++) {
    const Collector *collector = plan->netlist->collectors->pdata[i];
    if (!collector->on_connections && plan_collects(plan, collector, leaf)) return true;
  }
  return false;
}

static const char *find_waking(const Plan *plan, const Instance *leaf) {
  const ModuleSource *source = g_hash_table_lookup(plan->sources, leaf->leaf->c_file);
  if (!plan_may_skip(leaf)) return "has no next_event";
  if (is_collected(plan, leaf)) return "emits events that are collected";
  if (source && source->repeats) return NULL;
  if ((source && (source->timed || source->waits)) || plan->leaves[leaf->id].timed_by_user)
    return "asks for the time, and its next_event does not say `unchanged`";
  if (leaf->leaf->crossing) return "is a crossing, and its next_event does not say `unchanged`";
  if (plan_large_state(leaf)) return "has too much state to be compared, and its next_event does not say `unchanged`";
  return NULL;
}

void plan_find_leaps(Plan *plan) {
  plan->leaps = plan->jumps && plan->netlist->clocks->len <= MOST_LEAPING_CLOCKS;
  for (guint i = 0; i < plan->netlist->leaves->len; i++) {
    const Instance *leaf = plan->netlist->leaves->pdata[i];
    const ModuleSource *source = g_hash_table_lookup(plan->sources, leaf->leaf->c_file);
    LeafPlan *of = &plan->leaves[leaf->id];
    of->timed_by_user = is_timed_by_user(leaf);
    of->waking = find_waking(plan, leaf);
    of->counts = source && plan_has_hook(leaf, source, "skip");
    of->compared =
        !(source && source->repeats) && (leaf->state->len > 0 || plan_find_function(leaf, FUNCTION_PHASE_END));
    plan->leaps &= !of->waking;
  }
}
