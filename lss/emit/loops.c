// Whole loops (lss/runtime/replay/loops.h): which machines can be tracked for them, the loop over clocks while they
// are, and which clusters sleep.
//
// While a machine is tracked the root is stepped by a second version of it, which notices what depends on the time and
// what is no state; other clusters are looked up or sleep, or there is no loop.
#include "lss/emit/emit.h"

const char *emit_loops_obstacle(const Emitter *emitter) {
  const Netlist *netlist = emitter->netlist;
  if (emitter->debug) return "debug builds step everything";
  if (netlist->collectors->len) return "events are collected";
  if (netlist->waves->len) return "signals are observed";
  bool replays = false;
  for (guint i = 0; i < emitter->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->schedule->clusters->pdata[i];
    if (cluster->probes->len) return "signals are observed";
    if (!cluster->instance) continue;
    if (!emit_replays(emitter, cluster) && !emit_gated(emitter, cluster))
      return "a group of instances is always stepped";
    replays |= emit_replays(emitter, cluster);
  }
  return replays ? NULL : "nothing in it is replayed";
}

bool emit_counts_loops(const Emitter *emitter) {
  return !emitter->check_only && !emit_loops_obstacle(emitter);
}

void emit_sleeping_table(const Emitter *emitter, GString *out) {
  g_string_append(out, "const spinach_sleeping spinach_sleepings[] = {\n");
  for (guint i = 0; i < emitter->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->schedule->clusters->pdata[i];
    if (!cluster->instance || !emit_gated(emitter, cluster)) continue;
    g_autoptr(GPtrArray) clocks = emit_cluster_clocks(cluster);
    g_string_append_printf(out, "  {&spinach_gate_%u, %u, %d},\n", i, i, ((Clock *)clocks->pdata[0])->id);
  }
  g_string_append(out, "  {0}\n};\n");
}
