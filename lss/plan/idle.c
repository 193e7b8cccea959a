// Idle time: whether everything in a machine says when it acts by itself, so that time can be jumped over.
#include "lss/plan/plan.h"

bool plan_may_skip(const Instance *leaf) {
  return plan_find_function(leaf, FUNCTION_NEXT_EVENT) ||
         (leaf->state->len == 0 && !plan_find_function(leaf, FUNCTION_PHASE_END));
}

void plan_find_jumps(Plan *plan) {
  const Netlist *netlist = plan->netlist;
  plan->skips = true;
  for (guint i = 0; i < netlist->leaves->len; i++) plan->skips &= plan_may_skip(netlist->leaves->pdata[i]);
  // What happens on a connection is collected in every cycle, idle ones too; modules' events come in cycles that
  // happen.
  plan->jumps = plan->skips && !plan->collect_connections;
  for (guint i = 0; i < netlist->collectors->len; i++)
    plan->jumps &= !((Collector *)netlist->collectors->pdata[i])->on_connections;
}
