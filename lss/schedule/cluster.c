// Divides the leaves of a machine among clusters.  A cluster is compiled as one C unit with its own step functions.
//
// Small machines are one cluster, so that all signals are local variables of one function.  In larger ones every
// hierarchical instance at the top level is a cluster, unless many copies are inside, and so is every group of
// instances of one module that occurs several times, so that identical copies share their code, and every instance that
// is large beside a large rest, so that the two are compiled side by side; what remains is the root cluster.  An
// instance on several clocks is none: the clusters are inside it.
#include "lss/schedule/schedule.h"

#include <string.h>

enum {
  SMALL_MACHINE = 120, // leaves that one step function holds without making compilation slow
  MIN_LEAVES = 4,      // a smaller copy does not pay for calls and signals in memory
  LARGE = 20,          // as many leaves pay for it without a copy, when the rest of the machine has as many
  MANY_COPIES = 3,     // so many copies inside one instance are too much code for one function
};

static Cluster *cluster_new(Instance *instance) {
  Cluster *cluster = g_new0(Cluster, 1);
  cluster->instance = instance;
  cluster->leaves = g_ptr_array_new();
  cluster->probes = g_ptr_array_new();
  cluster->segments = g_ptr_array_new();
  return cluster;
}

GPtrArray *clocks_of_leaves(const GPtrArray *leaves) {
  GPtrArray *clocks = g_ptr_array_new();
  for (guint i = 0; i < leaves->len; i++) {
    const Instance *leaf = leaves->pdata[i];
    for (guint k = 0; k < leaf->functions->len; k++) {
      const Function *f = leaf->functions->pdata[k];
      Clock *clock = f->clock ? f->clock : leaf->clock;
      if (f->kind != FUNCTION_ALWAYS && clock && !g_ptr_array_find(clocks, clock, NULL)) g_ptr_array_add(clocks, clock);
    }
  }
  return clocks;
}

static void collect_leaves(Instance *instance, GPtrArray *leaves) {
  if (instance->leaf) g_ptr_array_add(leaves, instance);
  for (guint i = 0; instance->children && i < instance->children->len; i++)
    collect_leaves(instance->children->pdata[i], leaves);
}

static int count_leaves(Instance *instance) {
  g_autoptr(GPtrArray) leaves = g_ptr_array_new();
  collect_leaves(instance, leaves);
  return (int)leaves->len;
}

// Hierarchical instances by module, over the whole machine.
static void count_modules(Instance *instance, GHashTable *counts) {
  if (instance->leaf) return;
  int n = GPOINTER_TO_INT(g_hash_table_lookup(counts, instance->module_name));
  g_hash_table_insert(counts, (gpointer)instance->module_name, GINT_TO_POINTER(n + 1));
  for (guint i = 0; i < instance->children->len; i++) count_modules(instance->children->pdata[i], counts);
}

// Whether many copies of something large enough for a cluster are inside: then they are the clusters, not the whole.
static bool holds_copies(Instance *instance, GHashTable *counts) {
  for (guint i = 0; instance->children && i < instance->children->len; i++) {
    Instance *child = instance->children->pdata[i];
    if (child->leaf) continue;
    int copies = GPOINTER_TO_INT(g_hash_table_lookup(counts, child->module_name));
    if (copies >= MANY_COPIES && count_leaves(child) >= MIN_LEAVES) return true;
    if (holds_copies(child, counts)) return true;
  }
  return false;
}

// Something inside that acts on another clock than the rest could neither sleep nor be replayed with it.
static bool spans_clocks(Instance *instance) {
  g_autoptr(GPtrArray) leaves = g_ptr_array_new();
  collect_leaves(instance, leaves);
  g_autoptr(GPtrArray) clocks = clocks_of_leaves(leaves);
  return clocks->len > 1;
}

static void choose(Schedule *schedule, Instance *instance, GHashTable *counts) {
  if (instance->leaf) return;
  const int all = (int)schedule->netlist->leaves->len, own = count_leaves(instance);
  bool copies = instance->parent && GPOINTER_TO_INT(g_hash_table_lookup(counts, instance->module_name)) > 1;
  bool top_level = instance->parent && !instance->parent->parent;
  bool large = own >= LARGE && all - own >= LARGE;
  if (instance->parent && own >= MIN_LEAVES && !spans_clocks(instance) &&
      (copies || ((large || (top_level && all > SMALL_MACHINE)) && !holds_copies(instance, counts)))) {
    Cluster *cluster = cluster_new(instance);
    collect_leaves(instance, cluster->leaves);
    g_ptr_array_add(schedule->clusters, cluster);
    return;
  }
  for (guint i = 0; i < instance->children->len; i++) choose(schedule, instance->children->pdata[i], counts);
}

// Instances on one loop must share a function: their clusters are merged into the root.
static void dissolve_across_loops(Schedule *schedule, Cluster **of_instance) {
  Cluster **of_component = g_new0(Cluster *, schedule->nodes->len + 1);
  bool *dissolved = g_new0(bool, schedule->clusters->len + 1);
  for (guint i = 0; i < schedule->nodes->len; i++) {
    Vertex *node = schedule->nodes->pdata[i];
    Cluster *own = of_instance[node->instance->id], **common = &of_component[node->component];
    if (!*common)
      *common = own;
    else if (*common != own)
      dissolved[(*common)->id] = dissolved[own->id] = true;
  }
  GPtrArray *kept = g_ptr_array_new();
  Cluster *root = schedule->clusters->pdata[schedule->clusters->len - 1];
  for (guint i = 0; i < schedule->clusters->len; i++) {
    Cluster *cluster = schedule->clusters->pdata[i];
    if (cluster == root || !dissolved[cluster->id]) {
      g_ptr_array_add(kept, cluster);
      continue;
    }
    for (guint j = 0; j < cluster->leaves->len; j++) {
      Instance *leaf = cluster->leaves->pdata[j];
      of_instance[leaf->id] = root;
      g_ptr_array_add(root->leaves, leaf);
    }
    g_ptr_array_free(cluster->leaves, TRUE);
    g_ptr_array_free(cluster->probes, TRUE);
    g_ptr_array_free(cluster->segments, TRUE);
    g_free(cluster);
  }
  g_ptr_array_free(schedule->clusters, TRUE);
  schedule->clusters = kept;
  for (guint i = 0; i < kept->len; i++) ((Cluster *)kept->pdata[i])->id = (int)i;
  g_free(of_component);
  g_free(dissolved);
}

void clusters_choose(Schedule *schedule, const ScheduleOptions *options) {
  Netlist *netlist = schedule->netlist;
  if (!options->single_cluster) {
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    count_modules(netlist->top, counts);
    choose(schedule, netlist->top, counts);
  }
  Cluster *root = cluster_new(NULL);
  g_ptr_array_add(schedule->clusters, root);
  Cluster **of_instance = g_new0(Cluster *, netlist->instances->len);
  for (guint i = 0; i < schedule->clusters->len; i++) {
    Cluster *cluster = schedule->clusters->pdata[i];
    cluster->id = (int)i;
    for (guint j = 0; j < cluster->leaves->len; j++) of_instance[((Instance *)cluster->leaves->pdata[j])->id] = cluster;
  }
  for (guint i = 0; i < netlist->leaves->len; i++) {
    Instance *leaf = netlist->leaves->pdata[i];
    if (of_instance[leaf->id]) continue;
    of_instance[leaf->id] = root;
    g_ptr_array_add(root->leaves, leaf);
  }
  dissolve_across_loops(schedule, of_instance);
  schedule->cluster_of = of_instance;
  schedule->leaf_index = g_new0(int, netlist->instances->len);
  for (guint i = 0; i < schedule->clusters->len; i++) {
    Cluster *cluster = schedule->clusters->pdata[i];
    cluster->leaf_index = schedule->leaf_index;
    for (guint j = 0; j < cluster->leaves->len; j++)
      schedule->leaf_index[((Instance *)cluster->leaves->pdata[j])->id] = (int)j;
  }
  schedule->probe_index = g_new(int, netlist->connections->len + 1);
  for (guint i = 0; i < netlist->connections->len; i++) schedule->probe_index[i] = -1;
  for (guint i = 0; i < schedule->nodes->len; i++) {
    Vertex *node = schedule->nodes->pdata[i];
    node->cluster = of_instance[node->instance->id];
    if (node->kind != VERTEX_PROBE) continue;
    schedule->probe_index[node->connection->id] = (int)node->cluster->probes->len;
    g_ptr_array_add(node->cluster->probes, node->connection);
  }
}
