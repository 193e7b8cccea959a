// Rows of a picture; see graph_rows.h.
#include "lss/commands/graph_rows.h"

#include "lss/commands/graph_edges.h"

#include <string.h>

enum { MOST_NODES = 64 }; // of a level in which rows are looked for

// The edges that leave or reach each node: Instance* -> GPtrArray of Edge*.
static GHashTable *edges_of_nodes(const GPtrArray *edges, bool leaving) {
  GHashTable *found = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < edges->len; i++) {
    Edge *edge = g_ptr_array_index(edges, i);
    const Instance *end = leaving ? edge->from : edge->to;
    GPtrArray *own = g_hash_table_lookup(found, end);
    if (!own) g_hash_table_insert(found, (gpointer)end, own = g_ptr_array_new());
    g_ptr_array_add(own, edge);
  }
  return found;
}

// Whether items can go from one node to another, not by way of the border of the level.
static bool leads_to(const Instance *level, GHashTable *leaving, const Instance *from, const Instance *to) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  g_autoptr(GPtrArray) waiting = g_ptr_array_new();
  g_ptr_array_add(waiting, (gpointer)from);
  while (waiting->len) {
    const Instance *at = g_ptr_array_remove_index_fast(waiting, waiting->len - 1);
    const GPtrArray *edges = g_hash_table_lookup(leaving, at);
    for (guint i = 0; edges && i < edges->len; i++) {
      const Instance *next = ((const Edge *)g_ptr_array_index(edges, i))->to;
      if (next == to) return true;
      if (next != level && g_hash_table_add(seen, (gpointer)next)) g_ptr_array_add(waiting, (gpointer)next);
    }
  }
  return false;
}

// Whether two nodes of one module hear of the same: a port of each is fed by the same port.
static bool share_source(GHashTable *reaching, const Instance *a, const Instance *b) {
  const GPtrArray *left = g_hash_table_lookup(reaching, a), *right = g_hash_table_lookup(reaching, b);
  for (guint i = 0; left && i < left->len; i++) {
    const Edge *one = g_ptr_array_index(left, i);
    for (guint k = 0; right && k < right->len; k++) {
      const Edge *other = g_ptr_array_index(right, k);
      if (one->from == other->from && !strcmp(one->to_port, other->to_port) &&
          !strcmp(one->from_port, other->from_port))
        return true;
    }
  }
  return false;
}

GPtrArray *graph_rows(const Instance *level, const GPtrArray *nodes, const GPtrArray *edges) {
  GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  if (nodes->len > MOST_NODES) return rows;
  g_autoptr(GHashTable) leaving = edges_of_nodes(edges, true), reaching = edges_of_nodes(edges, false);
  g_autoptr(GHashTable) placed = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < nodes->len; i++) {
    const Instance *first = g_ptr_array_index(nodes, i);
    if (g_hash_table_contains(placed, first)) continue;
    g_autoptr(GPtrArray) row = g_ptr_array_new();
    g_ptr_array_add(row, (gpointer)first);
    for (guint k = i + 1; k < nodes->len; k++) {
      const Instance *next = g_ptr_array_index(nodes, k);
      bool fits = !strcmp(first->module_name, next->module_name) && !g_hash_table_contains(placed, next) &&
                  share_source(reaching, first, next);
      for (guint j = 0; fits && j < row->len; j++)
        fits = !leads_to(level, leaving, g_ptr_array_index(row, j), next) &&
               !leads_to(level, leaving, next, g_ptr_array_index(row, j));
      if (fits) g_ptr_array_add(row, (gpointer)next);
    }
    if (row->len == 1) continue;
    for (guint j = 0; j < row->len; j++) g_hash_table_add(placed, g_ptr_array_index(row, j));
    g_ptr_array_add(rows, g_steal_pointer(&row));
  }
  return rows;
}
