// Idle time: whether everything in a machine says when it acts by itself, so that time can be jumped over.
#include "lss/plan/plan.h"

// What prevents skipping are leaves that have state or act by themselves, and do not say when.
bool plan_may_skip(const Instance *leaf) {
  return plan_find_function(leaf, FUNCTION_NEXT_EVENT) ||
         (leaf->state->len == 0 && !plan_find_function(leaf, FUNCTION_PHASE_END));
}

bool plan_skips(const Netlist *netlist) {
  for (guint i = 0; i < netlist->leaves->len; i++)
    if (!plan_may_skip(netlist->leaves->pdata[i])) return false;
  return true;
}

// What happens on a connection is collected in every cycle, idle ones too; modules' events come in cycles that happen.
bool plan_jumps(const Plan *plan) {
  if (plan->collect_connections) return false;
  for (guint i = 0; i < plan->netlist->collectors->len; i++)
    if (((Collector *)plan->netlist->collectors->pdata[i])->on_connections) return false;
  return plan->skips;
}
