// Sleeping clusters: one in whose last cycle everything waited, and to which nothing comes over the border but the
// numbers that came in that cycle, would only repeat it.  It is not stepped, and the signals that it drives stay in its
// scratch: a processor that waits for its memory costs a comparison.
//
// What is asked of a cycle is what is asked of the whole machine's (leaps.c), here of one cluster alone
// (lss/runtime/engine/gate.h).  Debug builds step everything, and so find modules whose next_event says `unchanged` too
// early.
#include "lss/plan/plan.h"

static bool is_partial(const Instance *leaf) {
  for (guint i = 0; i < leaf->functions->len; i++)
    if (((Function *)leaf->functions->pdata[i])->partial) return true;
  return false;
}

// Why the cluster is stepped while it waits; NULL: it sleeps.
static const char *find_wakefulness(const Plan *plan, const Cluster *cluster) {
  if (plan->debug) return "debug builds step everything";
  if (cluster->probes->len) return "signals in it are observed";
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    const char *why = leaf->leaf->crossing ? "is a crossing"
                      : is_partial(leaf)   ? "has partial handlers"
                                           : plan->leaves[leaf->id].waking;
    if (why) return g_strdup_printf("%s : %s %s", leaf->path, leaf->module_name, why);
  }
  return plan_of(plan, cluster)->clocks->len == 1 ? NULL : "it has several clocks";
}

void plan_find_sleeps(Plan *plan) {
  for (guint i = 0; i < plan->schedule->clusters->len; i++) {
    const Cluster *cluster = plan->schedule->clusters->pdata[i];
    plan->clusters[i].stepped = cluster->instance ? find_wakefulness(plan, cluster) : NULL;
    plan->clusters[i].sleeps = cluster->instance && !plan->clusters[i].stepped;
  }
}
