// The plan of a machine's C: its decisions in their order.
#include "lss/plan/plan.h"

#include "lss/base/diagnostics.h"

// What is not in the state is in no checkpoint, and all instances share it.
static bool check_statics(const ModuleSource *source) {
  for (guint i = 0; i < source->statics->len; i++) {
    const StaticVariable *variable = source->statics->pdata[i];
    diag_error((Location){g_intern_string(source->file), variable->line, 1, variable->line, 1}, "static-variable",
               "`%s` is static, so no checkpoint has it and all instances share it: declare it in the module's state, "
               "or make it const",
               variable->name);
  }
  return source->statics->len == 0;
}

static bool read_behaviours(Plan *plan, const Cluster *cluster) {
  bool fine = true;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (g_hash_table_contains(plan->sources, leaf->leaf->c_file)) continue;
    g_autoptr(GError) error = NULL;
    ModuleSource *source = module_source_read(leaf->leaf->c_file, &error);
    g_hash_table_insert(plan->sources, (gpointer)leaf->leaf->c_file, source);
    if (source) {
      fine &= check_statics(source);
      continue;
    }
    diag_error(leaf->leaf->location, "missing-c-file", "the behaviour of module %s cannot be read: %s",
               leaf->module_name, error->message);
    fine = false;
  }
  return fine;
}

// Segments, and the places of items in the order of a tick.
static void number_nodes(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  plan->segment_of = g_new0(int, schedule->nodes->len + 1);
  plan->place_of = g_new0(int, schedule->nodes->len + 1);
  int number = 0, place = 1;
  for (guint c = 0; c < plan->netlist->clocks->len; c++)
    for (guint i = 0; i < schedule->steps[c]->len; i++, number++) {
      const Segment *segment = schedule->steps[c]->pdata[i];
      for (guint k = 0; k < segment->items->len; k++, place++) {
        const Item *item = segment->items->pdata[k];
        for (guint n = 0; n < item->nodes->len; n++) {
          const Vertex *node = item->nodes->pdata[n];
          plan->segment_of[node->id] = number;
          plan->place_of[node->id] = place;
        }
      }
    }
  plan->segments = g_new0(SegmentPlan, number);
}

bool plan_build(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  const guint clusters = schedule->clusters->len;
  plan->leaves = g_new0(LeafPlan, plan->netlist->instances->len);
  plan->wires = g_new0(WirePlan, schedule->wires->len);
  plan->clusters = g_new0(ClusterPlan, clusters);
  plan->sources = g_hash_table_new(g_str_hash, g_str_equal);
  bool fine = true;
  for (guint i = 0; i < clusters; i++) fine &= read_behaviours(plan, schedule->clusters->pdata[i]);
  if (!fine) return false;
  for (guint i = 0; i < clusters; i++)
    plan->clusters[i].clocks = clocks_of_leaves(((Cluster *)schedule->clusters->pdata[i])->leaves);
  plan_find_jumps(plan);
  plan_find_collected(plan);
  number_nodes(plan);
  plan_number_pieces(plan);
  plan_find_wires(plan);
  plan_find_shown(plan);
  plan_find_places(plan);
  plan_find_rows(plan);
  plan_find_border(plan);
  plan_find_leaps(plan);
  plan_find_sleeps(plan);
  plan_find_obstacles(plan);
  plan->counts_loops = !plan->check_only && !plan->loops_obstacle;
  const Cluster *root = schedule->clusters->pdata[clusters - 1];
  plan->shares_scratch = plan->counts_loops || (!plan->check_only && plan_cluster_in_pieces(plan, root));
  return true;
}
