// Edges and arrays of pictures; see graph_edges.h.
#include "lss/commands/graph_edges.h"

#include "lss/base/arena.h"

#include <string.h>

static void edge_free(gpointer data) {
  Edge *edge = data;
  g_ptr_array_unref(edge->from_keys);
  g_ptr_array_unref(edge->to_keys);
  g_free(edge);
}

static Edge *edge_new(const Instance *from, const char *from_port, const Instance *to, const char *to_port) {
  Edge *edge = g_new(Edge, 1);
  *edge = (Edge){from, to, from_port, to_port, 0, g_ptr_array_new(), g_ptr_array_new()};
  return edge;
}

static void edge_add(Edge *edge, const DrawnConnection *drawn) {
  edge->lanes++;
  g_ptr_array_add(edge->from_keys, (gpointer)drawn->from_key);
  g_ptr_array_add(edge->to_keys, (gpointer)drawn->to_key);
}

// Identifies an edge among those of all levels.
static char *edge_key(const Instance *level, const Instance *from, const char *from_port, const Instance *to,
                      const char *to_port) {
  return g_strdup_printf("%p %p.%s %p.%s", (void *)level, (void *)from, from_port, (void *)to, to_port);
}

GHashTable *graph_edges(const Netlist *netlist) {
  GHashTable *levels = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < netlist->drawn->len; i++) {
    const DrawnConnection *drawn = g_ptr_array_index(netlist->drawn, i);
    char *key = edge_key(drawn->level, drawn->from, drawn->from_port, drawn->to, drawn->to_port);
    Edge *edge = g_hash_table_lookup(seen, key);
    if (edge) {
      edge_add(edge, drawn);
      g_free(key);
      continue;
    }
    edge = edge_new(drawn->from, drawn->from_port, drawn->to, drawn->to_port);
    edge_add(edge, drawn);
    g_hash_table_insert(seen, key, edge);
    GPtrArray *edges = g_hash_table_lookup(levels, drawn->level);
    if (!edges) {
      edges = g_ptr_array_new_with_free_func(edge_free);
      g_hash_table_insert(levels, drawn->level, edges);
    }
    g_ptr_array_add(edges, edge);
  }
  return levels;
}

// ---- Arrays --------------------------------------------------------------------------------------------------------

// The length of an array's name in that of its element, "core" in "core[3]"; 0 for a single instance.
static gsize array_name(const Instance *instance) {
  const char *bracket = strchr(instance->name, '[');
  return bracket ? (gsize)(bracket - instance->name) : 0;
}

static void add_touching(GHashTable *touching, const Instance *instance, Edge *edge) {
  GPtrArray *own = g_hash_table_lookup(touching, instance);
  if (!own) g_hash_table_insert(touching, (gpointer)instance, own = g_ptr_array_new());
  g_ptr_array_add(own, edge);
}

// The edges of each instance: Instance* -> GPtrArray of Edge*.
static GHashTable *edges_by_instance(const GPtrArray *edges) {
  GHashTable *touching = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; edges && i < edges->len; i++) {
    Edge *edge = g_ptr_array_index(edges, i);
    add_touching(touching, edge->from, edge);
    if (edge->to != edge->from) add_touching(touching, edge->to, edge);
  }
  return touching;
}

// Whether two instances are connected to the same one, or each to that of another array which has its own index.
static bool are_counterparts(const Instance *a, const Instance *of_a, const Instance *b, const Instance *of_b) {
  if (of_a == of_b) return true;
  const gsize length = array_name(of_a);
  return length && array_name(of_b) == length && !strncmp(of_a->name, of_b->name, length) &&
         !strcmp(of_a->name + length, a->name + array_name(a)) && !strcmp(of_b->name + length, b->name + array_name(b));
}

static bool are_alike(const Instance *a, const Instance *b, GHashTable *touching, GHashTable *links) {
  const GPtrArray *left = g_hash_table_lookup(touching, a), *right = g_hash_table_lookup(touching, b);
  if (!left || !right || left->len != right->len || a->clock != b->clock ||
      g_strcmp0(g_hash_table_lookup(links, a), g_hash_table_lookup(links, b)) != 0)
    return false;
  for (guint i = 0; i < left->len; i++) {
    const Edge *one = g_ptr_array_index(left, i), *other = g_ptr_array_index(right, i);
    const bool out = one->from == a;
    if (out != (other->from == b) || one->lanes != other->lanes || strcmp(one->from_port, other->from_port) != 0 ||
        strcmp(one->to_port, other->to_port) != 0 ||
        !are_counterparts(a, out ? one->to : one->from, b, out ? other->to : other->from))
      return false;
  }
  return true;
}

GHashTable *graph_arrays(const Instance *level, const GPtrArray *edges, GHashTable *links) {
  GHashTable *arrays = g_hash_table_new(NULL, NULL);
  g_autoptr(GHashTable) touching = edges_by_instance(edges);
  for (guint i = 0, count; i < level->children->len; i += count) {
    const Instance *first = g_ptr_array_index(level->children, i);
    const gsize length = array_name(first);
    for (count = 1; length && i + count < level->children->len; count++) {
      const Instance *next = g_ptr_array_index(level->children, i + count);
      if (array_name(next) != length || strncmp(next->name, first->name, length) != 0) break;
    }
    bool alike = count > 1;
    for (guint k = 1; alike && k < count; k++)
      alike = are_alike(first, g_ptr_array_index(level->children, i + k), touching, links);
    if (!alike) continue;
    Instance *all = arena_new(Instance);
    *all = *first;
    all->name = arena_printf("%.*s ×%u", (int)length, first->name, count);
    const char *link = g_hash_table_lookup(links, first);
    if (link) g_hash_table_insert(links, all, g_strdup(link));
    for (guint k = 0; k < count; k++) g_hash_table_insert(arrays, g_ptr_array_index(level->children, i + k), all);
  }
  return arrays;
}

const Instance *graph_drawn_as(GHashTable *arrays, const Instance *instance) {
  const Instance *array = g_hash_table_lookup(arrays, instance);
  return array ? array : instance;
}

GPtrArray *graph_merged_edges(const GPtrArray *edges, GHashTable *arrays) {
  GPtrArray *merged = g_ptr_array_new_with_free_func(edge_free);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; edges && i < edges->len; i++) {
    const Edge *edge = g_ptr_array_index(edges, i);
    const Instance *from = graph_drawn_as(arrays, edge->from), *to = graph_drawn_as(arrays, edge->to);
    char *key = edge_key(NULL, from, edge->from_port, to, edge->to_port);
    Edge *into = g_hash_table_lookup(seen, key);
    if (into) {
      g_free(key);
    } else {
      into = edge_new(from, edge->from_port, to, edge->to_port);
      g_hash_table_insert(seen, key, into);
      g_ptr_array_add(merged, into);
    }
    into->lanes += edge->lanes;
    g_ptr_array_extend(into->from_keys, edge->from_keys, NULL, NULL);
    g_ptr_array_extend(into->to_keys, edge->to_keys, NULL, NULL);
  }
  return merged;
}
