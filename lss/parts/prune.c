// The netlist of one kind: what is in its representative, and the halves of the crossings at its ports.
//
// What is in the representative stays as it is, but for its parent and the connections that lead to a half.  What is
// around it, the top and instances that only hold crossings, is copied without the rest of the network.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/parts/parts.h"

typedef struct {
  Network *network;
  PartKind *kind;
  GHashTable *kept; // Instance* of the whole -> Instance* here
} Prune;

static Instance *kept(const Prune *prune, const Instance *instance) {
  return instance ? g_hash_table_lookup(prune->kept, instance) : NULL;
}

static void keep_all(const Prune *prune, Instance *instance) {
  g_hash_table_insert(prune->kept, instance, instance);
  for (guint i = 0; i < instance->children->len; i++) keep_all(prune, instance->children->pdata[i]);
}

// ---- Instances -----------------------------------------------------------------------------------------------------

static bool keep_half(Prune *prune, const BorderEnd *end) {
  const Instance *crossing = end->border->crossing;
  Instance *half = half_new(crossing, end->sends);
  if (!half) return false;
  GPtrArray *links = prune->kind->netlist->links;
  half->link = (int)links->len;
  for (guint i = 0; i < crossing->state->len; i++) {
    const StateField *field = crossing->state->pdata[i];
    if (field->kind != STATE_FLIGHT) continue;
    LinkEnd *link = arena_new(LinkEnd);
    *link = (LinkEnd){arena_printf("%s.%s", crossing->path, field->name), half, field, crossing->state->pdata[i + 2],
                      end->sends};
    g_ptr_array_add(links, link);
  }
  g_hash_table_insert(prune->kept, (gpointer)crossing, half);
  return true;
}

static Instance *copy_around(Prune *prune, Instance *instance) {
  Instance *copy = kept(prune, instance);
  if (copy) return copy;
  copy = arena_new(Instance);
  *copy = *instance;
  copy->children = arena_array();
  g_hash_table_insert(prune->kept, instance, copy);
  if (instance->parent) copy_around(prune, instance->parent);
  return copy;
}

static void attach_children(const Prune *prune) {
  const GPtrArray *all = prune->network->whole->instances;
  Netlist *netlist = prune->kind->netlist;
  for (guint i = 0; i < all->len; i++) {
    Instance *instance = all->pdata[i], *here = kept(prune, instance);
    if (!here) continue;
    Instance *parent = kept(prune, instance->parent);
    if (instance->parent && (here != instance || parent != instance->parent)) {
      here->parent = parent;
      g_ptr_array_add(parent->children, here);
    }
    g_ptr_array_add(netlist->instances, here);
    if (here->leaf) g_ptr_array_add(netlist->leaves, here);
  }
  netlist->top = kept(prune, prune->network->whole->top);
}

static guint64 state_size(const Instance *leaf) {
  guint64 size = 0;
  for (guint i = 0; leaf && leaf->state && i < leaf->state->len; i++) {
    const StateField *field = leaf->state->pdata[i];
    guint64 bytes = type_size(field->type, NULL);
    for (guint k = 0; k < field->dimensions->len; k++)
      bytes *= (guint64)MAX(g_array_index(field->dimensions, int, k), 1);
    size += bytes;
  }
  return size;
}

static bool keep_instances(Prune *prune) {
  const Process *process = prune->network->processes->pdata[prune->kind->representative];
  for (guint i = 0; i < process->parts->len; i++) keep_all(prune, ((Part *)process->parts->pdata[i])->instance);
  for (guint i = 0; i < process->inside->len; i++)
    g_hash_table_insert(prune->kept, process->inside->pdata[i], process->inside->pdata[i]);
  prune->kind->weight = 0;
  prune->kind->memory = 0;
  for (guint i = 0; i < prune->network->whole->leaves->len; i++) {
    const Instance *leaf = kept(prune, prune->network->whole->leaves->pdata[i]);
    prune->kind->weight += leaf != NULL;
    prune->kind->memory += state_size(leaf);
  }
  for (guint i = 0; i < process->ends->len; i++)
    if (!keep_half(prune, process->ends->pdata[i])) return false;
  g_autoptr(GPtrArray) leaves = g_ptr_array_new();
  const GPtrArray *all = prune->network->whole->instances;
  for (guint i = 0; i < all->len; i++)
    if (kept(prune, all->pdata[i])) g_ptr_array_add(leaves, all->pdata[i]);
  for (guint i = 0; i < leaves->len; i++) {
    Instance *parent = ((Instance *)leaves->pdata[i])->parent;
    if (parent) copy_around(prune, parent);
  }
  attach_children(prune);
  return true;
}

// ---- Connections and clocks ----------------------------------------------------------------------------------------

static void keep_connection(const Prune *prune, Connection *connection) {
  GPtrArray *passages = arena_array();
  for (guint i = 0; connection->passages && i < connection->passages->len; i++) {
    const Passage *passage = connection->passages->pdata[i];
    Instance *instance = kept(prune, passage->instance);
    if (!instance) continue;
    Passage *copy = arena_new(Passage);
    *copy = *passage;
    copy->instance = instance;
    g_ptr_array_add(passages, copy);
  }
  connection->passages = passages;
  g_ptr_array_add(prune->kind->netlist->connections, connection);
}

static void keep_connections(const Prune *prune) {
  const GPtrArray *leaves = prune->kind->netlist->leaves;
  for (guint i = 0; i < leaves->len; i++) {
    const Instance *leaf = leaves->pdata[i];
    for (guint p = 0; p < leaf->ports->len; p++) {
      const Port *port = leaf->ports->pdata[p];
      for (guint lane = 0; port->output && lane < port->lanes->len; lane++)
        if (port->lanes->pdata[lane]) keep_connection(prune, port->lanes->pdata[lane]);
    }
  }
}

static void find_clocks(const Prune *prune) {
  g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
  Netlist *netlist = prune->kind->netlist;
  for (guint i = 0; i < netlist->leaves->len; i++) {
    const Instance *leaf = netlist->leaves->pdata[i];
    g_hash_table_add(used, leaf->clock);
    for (guint p = 0; p < leaf->ports->len; p++) g_hash_table_add(used, ((Port *)leaf->ports->pdata[p])->clock);
    for (guint f = 0; f < leaf->functions->len; f++)
      g_hash_table_add(used, ((Function *)leaf->functions->pdata[f])->clock);
  }
  const GPtrArray *all = prune->network->whole->clocks;
  for (guint i = 0; i < all->len; i++)
    if (g_hash_table_contains(used, all->pdata[i])) g_ptr_array_add(netlist->clocks, all->pdata[i]);
  for (guint i = 0; i < netlist->instances->len; i++) {
    Instance *instance = netlist->instances->pdata[i];
    if (!g_hash_table_contains(used, instance->clock)) instance->clock = netlist->clocks->pdata[0];
  }
}

// ---- What refers to instances --------------------------------------------------------------------------------------

static void keep_collectors(const Prune *prune) {
  g_autoptr(GHashTable) copies = g_hash_table_new(NULL, NULL);
  const GPtrArray *all = prune->network->whole->collectors;
  g_autoptr(GHashTable) here = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < prune->kind->netlist->connections->len; i++)
    g_hash_table_add(here, prune->kind->netlist->connections->pdata[i]);
  for (guint i = 0; i < all->len; i++) {
    const Collector *collector = all->pdata[i];
    Collector *copy = arena_new(Collector);
    *copy = *collector;
    copy->instances = arena_array();
    copy->connections = arena_array();
    for (guint k = 0; k < collector->instances->len; k++) {
      Instance *instance = kept(prune, collector->instances->pdata[k]);
      const GPtrArray *elsewhere = instance ? instance->elsewhere_events : NULL;
      if (elsewhere && g_ptr_array_find_with_equal_func((GPtrArray *)elsewhere, collector->event, g_str_equal, NULL))
        continue;
      if (instance) g_ptr_array_add(copy->instances, instance);
    }
    for (guint k = 0; k < collector->connections->len; k++)
      if (g_hash_table_contains(here, collector->connections->pdata[k]))
        g_ptr_array_add(copy->connections, collector->connections->pdata[k]);
    g_hash_table_insert(copies, (gpointer)collector, copy);
    if (collector->of) copy->of = g_hash_table_lookup(copies, collector->of);
    copy->owner = kept(prune, collector->owner);
    if (copy->owner && (copy->instances->len || copy->connections->len))
      g_ptr_array_add(prune->kind->netlist->collectors, copy);
  }
}

static bool holds(const Prune *prune, const DebugState *state) {
  return !state->field || kept(prune, state->instance) == state->instance;
}

static void keep_views(const Prune *prune) {
  const GPtrArray *all = prune->network->whole->debug_views;
  for (guint i = 0; i < all->len; i++) {
    const DebugView *view = all->pdata[i];
    Instance *instance = kept(prune, view->instance);
    bool complete = instance != NULL;
    for (guint k = 0; complete && k < view->roles->len; k++) {
      const DebugRole *role = view->roles->pdata[k];
      complete = holds(prune, &role->state) && holds(prune, &role->map);
    }
    for (guint k = 0; complete && k < view->regions->len; k++)
      complete = holds(prune, &((DebugRegion *)view->regions->pdata[k])->state);
    if (!complete) continue;
    DebugView *copy = arena_new(DebugView);
    *copy = *view;
    copy->instance = instance;
    g_ptr_array_add(prune->kind->netlist->debug_views, copy);
  }
}

// The instance here whose state has the field; NULL when there is none.
static Instance *holder(const Prune *prune, const Instance *instance, const StateField *field) {
  Instance *here = kept(prune, instance);
  if (here && field && !g_ptr_array_find(here->state, field, NULL)) return NULL;
  return here;
}

static bool keep_derived(const Prune *prune) {
  const GPtrArray *all = prune->network->whole->derived;
  for (guint i = 0; i < all->len; i++) {
    const Derived *derived = all->pdata[i];
    Derived *copy = arena_new(Derived);
    *copy = *derived;
    copy->instance = kept(prune, derived->instance);
    copy->steps = arena_garray(sizeof(DerivedStep));
    guint here = 0, elsewhere = 0;
    for (guint k = 0; k < derived->steps->len; k++) {
      DerivedStep step = g_array_index(derived->steps, DerivedStep, k);
      Instance *instance = step.instance ? holder(prune, step.instance, step.field) : NULL;
      here += instance != NULL;
      elsewhere += step.instance && !instance;
      step.instance = instance;
      g_array_append_val(copy->steps, step);
    }
    if (!copy->instance || !here) continue;
    if (elsewhere) {
      diag_error(derived->location, "part-border",
                 "the statistic `%s` is made of statistics of several parts of the network", derived->name);
      return false;
    }
    g_ptr_array_add(prune->kind->netlist->derived, copy);
  }
  return true;
}

// The same steps for what is here; NULL when some of what they name is not.
static GArray *steps_here(const Prune *prune, const GArray *steps) {
  GArray *copy = arena_garray(sizeof(BalanceStep));
  for (guint i = 0; steps && i < steps->len; i++) {
    BalanceStep step = g_array_index(steps, BalanceStep, i);
    const Instance *of = step.kind == 'p' ? step.port->instance : step.instance;
    if (of) {
      Instance *instance = holder(prune, of, step.kind == 'f' ? step.field : NULL);
      if (!instance || ((step.kind == 'p' || step.kind == 'e') && instance != of)) return NULL;
      if (step.instance) step.instance = instance;
    }
    g_array_append_val(copy, step);
  }
  return copy;
}

static void keep_balances(const Prune *prune) {
  const GPtrArray *all = prune->network->whole->balances;
  for (guint i = 0; i < all->len; i++) {
    const Balance *balance = all->pdata[i];
    GArray *left = steps_here(prune, balance->left), *right = steps_here(prune, balance->right);
    if (!left || !right || !kept(prune, balance->instance)) continue;
    Balance *copy = arena_new(Balance);
    *copy = *balance;
    copy->instance = kept(prune, balance->instance);
    copy->left = left;
    copy->right = right;
    g_ptr_array_add(prune->kind->netlist->balances, copy);
  }
}

// ---- All of it -----------------------------------------------------------------------------------------------------

static bool check_collectors(const Network *network) {
  bool fine = true;
  for (guint i = 0; i < network->whole->collectors->len; i++) {
    const Collector *collector = network->whole->collectors->pdata[i];
    const PartKind *first = NULL;
    for (guint k = 0; collector->shared && k < network->kinds->len; k++) {
      const PartKind *kind = network->kinds->pdata[k];
      bool here = false;
      for (guint c = 0; c < kind->netlist->collectors->len; c++) {
        const Collector *other = kind->netlist->collectors->pdata[c];
        here |= other->shared && other->location.line == collector->location.line &&
                !g_strcmp0(other->name, collector->name);
      }
      const Process *process = network->processes->pdata[kind->representative];
      guint count = 0;
      for (guint p = 0; p < network->processes->len; p++) count += ((Process *)network->processes->pdata[p])->kind == k;
      if (!here || (!first && count == 1)) {
        if (here) first = kind;
        continue;
      }
      diag_error(collector->location, "part-border",
                 "the shared collector `%s` is attached to several parts of the network, among them `%s`",
                 collector->name, ((Part *)process->parts->pdata[0])->instance->path);
      fine = false;
      break;
    }
  }
  return fine;
}

static bool prune_kind(Network *network, PartKind *kind) {
  g_autoptr(GHashTable) instances = g_hash_table_new(NULL, NULL);
  Prune prune = {network, kind, instances};
  const Netlist *whole = network->whole;
  const Process *process = network->processes->pdata[kind->representative];
  kind->netlist = netlist_new(whole->file);
  Netlist *netlist = kind->netlist;
  netlist->types = whole->types;
  netlist->ticks_per_second = whole->ticks_per_second;
  netlist->watches = whole->watches;
  netlist->records = whole->records;
  netlist->waves = whole->waves;
  netlist->sources = whole->sources;
  netlist->distance = network->distance;
  netlist->part = ((Part *)process->parts->pdata[0])->instance->path;
  if (!keep_instances(&prune)) return false;
  keep_connections(&prune);
  find_clocks(&prune);
  keep_collectors(&prune);
  keep_views(&prune);
  if (!keep_derived(&prune)) return false;
  keep_balances(&prune);
  return true;
}

bool network_prune(Network *network) {
  for (guint i = 0; i < network->kinds->len; i++)
    if (!prune_kind(network, network->kinds->pdata[i])) return false;
  return check_collectors(network);
}

void network_number(Netlist *netlist) {
  for (guint i = 0; i < netlist->instances->len; i++) ((Instance *)netlist->instances->pdata[i])->id = (int)i;
  for (guint i = 0; i < netlist->connections->len; i++) ((Connection *)netlist->connections->pdata[i])->id = (int)i;
  for (guint i = 0; i < netlist->clocks->len; i++) ((Clock *)netlist->clocks->pdata[i])->id = (int)i;
}
