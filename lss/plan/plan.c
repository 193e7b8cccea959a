// The plan of a machine's C: its decisions in their order.
#include "lss/plan/plan.h"

#include "lss/base/diagnostics.h"

static bool read_behaviours(Plan *plan, const Cluster *cluster) {
  bool fine = true;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (g_hash_table_contains(plan->sources, leaf->leaf->c_file)) continue;
    g_autoptr(GError) error = NULL;
    ModuleSource *source = module_source_read(leaf->leaf->c_file, &error);
    g_hash_table_insert(plan->sources, (gpointer)leaf->leaf->c_file, source);
    if (source) continue;
    diag_error(leaf->leaf->location, "missing-c-file", "the behaviour of module %s cannot be read: %s",
               leaf->module_name, error->message);
    fine = false;
  }
  return fine;
}

bool plan_build(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  plan->skips = plan_skips(plan->netlist);
  plan_find_wires(plan);
  plan_find_collected(plan);
  plan->sources = g_hash_table_new(g_str_hash, g_str_equal);
  plan->sleeps = g_hash_table_new(NULL, NULL);
  plan->obstacles = g_hash_table_new(NULL, NULL);
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
  plan_number_pieces(plan);
  bool fine = true;
  for (guint i = 0; i < schedule->clusters->len; i++) fine &= read_behaviours(plan, schedule->clusters->pdata[i]);
  if (fine) plan_find_shown(plan);
  return fine;
}
