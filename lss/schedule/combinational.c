// Reports loops within a cycle that must not be iterated: once for each set of instances, since data, enable and ack of
// the same connections mostly go round together, and at the connections that close them.
#include "lss/base/diagnostics.h"
#include "lss/schedule/schedule.h"

#include <string.h>

// The shortest cycle through the first node that is not partial, by breadth-first search against the dependencies.
// Each node waits for the one before it, the first for the last.
static GPtrArray *shortest_cycle(const GPtrArray *component) {
  g_autoptr(GHashTable) inside = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < component->len; i++) g_hash_table_add(inside, component->pdata[i]);
  Vertex *start = component->pdata[0];
  for (guint i = component->len; i-- > 0;)
    if (!((Vertex *)component->pdata[i])->function->partial) start = component->pdata[i];
  g_autoptr(GHashTable) reached_from = g_hash_table_new(NULL, NULL);
  g_autoptr(GPtrArray) queue = g_ptr_array_new();
  g_ptr_array_add(queue, start);
  Vertex *last = NULL;
  for (guint head = 0; head < queue->len && !last; head++) {
    Vertex *node = queue->pdata[head];
    for (guint i = 0; i < node->before->len && !last; i++) {
      Vertex *earlier = node->before->pdata[i];
      if (!g_hash_table_contains(inside, earlier)) continue;
      if (earlier == start)
        last = node;
      else if (!g_hash_table_contains(reached_from, earlier)) {
        g_hash_table_insert(reached_from, earlier, node);
        g_ptr_array_add(queue, earlier);
      }
    }
  }
  GPtrArray *path = g_ptr_array_new();
  if (!last) last = start; // it waits for itself
  for (Vertex *node = last; node; node = node == start ? NULL : g_hash_table_lookup(reached_from, node))
    g_ptr_array_add(path, node);
  return path;
}

// The wires of a cycle: the first is written by the last node and read by the first, and so on.
static GPtrArray *wires_of(const GPtrArray *path) {
  GPtrArray *wires = g_ptr_array_new();
  for (guint i = 0; i < path->len; i++) {
    const Vertex *reader = path->pdata[i], *writer = path->pdata[(i + path->len - 1) % path->len];
    for (guint j = 0; j < reader->reads->len; j++) {
      Wire *wire = reader->reads->pdata[j];
      if (wire->writer != writer) continue;
      g_ptr_array_add(wires, wire);
      break;
    }
  }
  return wires;
}

// How deep in the hierarchy a wire is connected: the depth of the innermost instance that holds both its ends.
static int level_of(const Wire *wire) {
  if (!wire->connection) return G_MAXINT;
  g_autoptr(GHashTable) around = g_hash_table_new(NULL, NULL);
  for (Instance *at = wire->connection->from->instance; at; at = at->parent) g_hash_table_add(around, at);
  const Instance *common = wire->connection->to->instance;
  while (common && !g_hash_table_contains(around, common)) common = common->parent;
  int depth = 0;
  for (; common; common = common->parent) depth++;
  return depth;
}

// The shortest cycle, printed from its outermost connection on.
static GPtrArray *rotated_cycle(const GPtrArray *component) {
  g_autoptr(GPtrArray) path = shortest_cycle(component);
  g_autoptr(GPtrArray) wires = wires_of(path);
  guint first = 0;
  for (guint i = 1; i < wires->len; i++)
    if (level_of(wires->pdata[i]) < level_of(wires->pdata[first])) first = i;
  GPtrArray *rotated = g_ptr_array_new();
  for (guint i = 0; i < path->len; i++) g_ptr_array_add(rotated, path->pdata[(first + i) % path->len]);
  return rotated;
}

static gint by_path(gconstpointer a, gconstpointer b) {
  return strcmp((*(Instance *const *)a)->path, (*(Instance *const *)b)->path);
}

// The paths of a component's instances, one a line.
static char *instances_of(const GPtrArray *component) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  g_autoptr(GPtrArray) instances = g_ptr_array_new();
  for (guint i = 0; i < component->len; i++) {
    Instance *instance = ((Vertex *)component->pdata[i])->instance;
    if (g_hash_table_add(seen, instance)) g_ptr_array_add(instances, instance);
  }
  g_ptr_array_sort(instances, by_path);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < instances->len; i++)
    g_string_append_printf(text, "%s\n", ((Instance *)instances->pdata[i])->path);
  return g_string_free(text, FALSE);
}

// "; also through enable and ack": the kinds of signals in the other loops through the same instances.
static void append_others(GString *text, const GPtrArray *wires, const GPtrArray *others) {
  static const char *const names[] = {[SIGNAL_DATA] = "data", [SIGNAL_ENABLE] = "enable", [SIGNAL_ACK] = "ack"};
  bool kinds[G_N_ELEMENTS(names)] = {false};
  for (guint i = 0; i < others->len; i++) {
    g_autoptr(GPtrArray) path = shortest_cycle(others->pdata[i]);
    g_autoptr(GPtrArray) along = wires_of(path);
    for (guint k = 0; k < along->len; k++) {
      const Wire *wire = along->pdata[k];
      if (wire->connection) kinds[wire->kind] = true;
    }
  }
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (wire->connection) kinds[wire->kind] = false;
  }
  bool any = false;
  for (guint kind = 0; kind < G_N_ELEMENTS(names); kind++) {
    if (!kinds[kind]) continue;
    g_string_append_printf(text, "%s%s", any ? " and " : "; also through ", names[kind]);
    any = true;
  }
}

// `others`: further loops through the same instances.
static void report_loop(const GPtrArray *component, const GPtrArray *others) {
  g_autoptr(GPtrArray) path = rotated_cycle(component);
  g_autoptr(GPtrArray) wires = wires_of(path);
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(GPtrArray) connections = g_ptr_array_new();
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    g_autofree char *name = wire_name(wire);
    g_string_append_printf(text, "%s -> ", name);
    if (wire->connection && !g_ptr_array_find(connections, wire->connection, NULL))
      g_ptr_array_add(connections, wire->connection);
  }
  g_string_append(text, "back to the start");
  append_others(text, wires, others);
  const Vertex *start = path->pdata[path->len - 1];
  const Connection *first = connections->len ? connections->pdata[0] : NULL;
  diag_error(first ? first->location : start->function->location, "combinational-loop", "combinational loop: %s",
             text->str);
  for (guint i = 1; i < connections->len; i++)
    diag_note(((Connection *)connections->pdata[i])->location, "continued here");
  for (guint i = 0; i < path->len; i++) {
    const Vertex *node = path->pdata[i];
    g_autofree char *name = vertex_name(node), *written = wire_name(wires->pdata[(i + 1) % wires->len]);
    diag_note(node->function->location, "%s computes %s%s", name, written, node->function->partial ? " (partial)" : "");
  }
}

void report_loops(const GPtrArray *components) {
  g_autoptr(GHashTable) by_instances =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GPtrArray) order = g_ptr_array_new(); // keys of the table, borrowed
  for (guint i = 0; i < components->len; i++) {
    g_autofree char *instances = instances_of(components->pdata[i]);
    GPtrArray *loops = g_hash_table_lookup(by_instances, instances);
    if (!loops) {
      loops = g_ptr_array_new();
      g_ptr_array_add(order, loops);
      g_hash_table_insert(by_instances, g_steal_pointer(&instances), loops);
    }
    g_ptr_array_add(loops, components->pdata[i]);
  }
  for (guint i = 0; i < order->len; i++) {
    g_autoptr(GPtrArray) loops = g_ptr_array_copy(order->pdata[i], NULL, NULL);
    const GPtrArray *first = g_ptr_array_steal_index(loops, 0);
    report_loop(first, loops);
  }
}
