// Finds the strongly connected components of the dependency graph and reports loops that nobody may iterate.
// Components come from Tarjan's algorithm, iterative because machines can be deep.
#include "lss/base/diagnostics.h"
#include "lss/schedule/schedule.h"

#include <string.h>

typedef struct {
  int index, low;
  bool on_stack;
  guint next; // edge to follow
} Visit;

// The path is told from the wire a handler waits for to the handler that writes it, until it closes.
static void report_loop(GPtrArray *component) {
  g_autoptr(GHashTable) inside = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < component->len; i++) g_hash_table_add(inside, component->pdata[i]);
  // The shortest cycle through the first node that is not partial, by breadth-first search against the dependencies.
  Node *start = component->pdata[0];
  for (guint i = 0; i < component->len; i++)
    if (!((Node *)component->pdata[i])->function->partial) {
      start = component->pdata[i];
      break;
    }
  g_autoptr(GHashTable) reached_from = g_hash_table_new(NULL, NULL);
  g_autoptr(GPtrArray) queue = g_ptr_array_new();
  g_ptr_array_add(queue, start);
  Node *last = NULL;
  for (guint head = 0; head < queue->len && !last; head++) {
    Node *node = queue->pdata[head];
    for (guint i = 0; i < node->before->len && !last; i++) {
      Node *earlier = node->before->pdata[i];
      if (!g_hash_table_contains(inside, earlier)) continue;
      if (earlier == start)
        last = node;
      else if (!g_hash_table_contains(reached_from, earlier)) {
        g_hash_table_insert(reached_from, earlier, node);
        g_ptr_array_add(queue, earlier);
      }
    }
  }
  // `last` waits for `start`; walk from start (a writer) along what it waits for.
  g_autoptr(GPtrArray) path = g_ptr_array_new(); // each node waits for the one before it
  for (Node *node = last; node; node = node == start ? NULL : g_hash_table_lookup(reached_from, node))
    g_ptr_array_add(path, node);
  g_autoptr(GString) text = g_string_new(NULL);
  Node *writer = start;
  for (guint i = 0; i < path->len; i++) {
    Node *reader = path->pdata[i];
    for (guint j = 0; j < reader->reads->len; j++) {
      Wire *wire = reader->reads->pdata[j];
      if (wire->writer != writer) continue;
      g_autofree char *name = wire_name(wire);
      g_string_append_printf(text, "%s%s", text->len ? " -> " : "", name);
      break;
    }
    writer = reader;
  }
  diag_error(start->function->location, "combinational-loop", "a loop within one cycle: %s -> back to the start",
             text->str);
  for (guint i = 0; i < path->len; i++) {
    Node *reader = path->pdata[i], *next = i + 1 < path->len ? path->pdata[i + 1] : path->pdata[0];
    g_autofree char *name = node_name(reader);
    g_autofree char *written = NULL;
    for (guint j = 0; j < reader->writes->len && !written; j++)
      if (g_ptr_array_find(next->reads, reader->writes->pdata[j], NULL)) written = wire_name(reader->writes->pdata[j]);
    diag_note(reader->function->location, "%s computes %s%s", name, written ? written : "it",
              reader->function->partial ? " (partial)" : "");
  }
  diag_instance(start->instance->path);
}

static void reverse(GPtrArray *array) {
  for (guint i = 0, k = array->len; i + 1 < k; i++) {
    gpointer last = array->pdata[--k];
    array->pdata[k] = array->pdata[i];
    array->pdata[i] = last;
  }
}

static bool component_is_legal(GPtrArray *component) {
  Node *only = component->pdata[0];
  bool loop = component->len > 1;
  if (!loop)
    for (guint i = 0; i < only->reads->len; i++) loop |= ((Wire *)only->reads->pdata[i])->writer == only;
  if (!loop) return true;
  bool partial = true;
  for (guint i = 0; i < component->len; i++) {
    Node *node = component->pdata[i];
    partial &= node->kind == NODE_FUNCTION && node->function->kind == FUNCTION_HANDLER && node->function->partial;
  }
  if (!partial) {
    if (component->len == 1) {
      g_autofree char *name = node_name(only);
      diag_error(only->function->location, "combinational-loop", "%s waits for a signal that it writes itself", name);
      diag_instance(only->instance->path);
    } else {
      report_loop(component);
    }
    return false;
  }
  for (guint i = 0; i < component->len; i++) {
    Node *node = component->pdata[i];
    for (guint j = 0; j < node->writes->len; j++) ((Wire *)node->writes->pdata[j])->flagged = true;
  }
  return true;
}

bool schedule_components(Schedule *schedule, GPtrArray **components) {
  GPtrArray *nodes = schedule->nodes;
  g_autofree Visit *visits = g_new0(Visit, nodes->len + 1);
  g_autoptr(GPtrArray) stack = g_ptr_array_new(), path = g_ptr_array_new();
  *components = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  int counter = 0;
  bool legal = true;
  for (guint root = 0; root < nodes->len; root++) {
    if (visits[root].index) continue;
    g_ptr_array_add(path, nodes->pdata[root]);
    while (path->len) {
      Node *node = path->pdata[path->len - 1];
      Visit *visit = &visits[node->id];
      if (!visit->index) {
        visit->index = visit->low = ++counter;
        visit->on_stack = true;
        g_ptr_array_add(stack, node);
      }
      if (visit->next < node->before->len) {
        Node *earlier = node->before->pdata[visit->next++];
        Visit *other = &visits[earlier->id];
        if (!other->index)
          g_ptr_array_add(path, earlier);
        else if (other->on_stack)
          visit->low = MIN(visit->low, other->index);
        continue;
      }
      g_ptr_array_set_size(path, (int)path->len - 1);
      if (path->len) {
        Visit *parent = &visits[((Node *)path->pdata[path->len - 1])->id];
        parent->low = MIN(parent->low, visit->low);
      }
      if (visit->low != visit->index) continue;
      GPtrArray *component = g_ptr_array_new();
      Node *member;
      do {
        member = stack->pdata[stack->len - 1];
        g_ptr_array_set_size(stack, (int)stack->len - 1);
        visits[member->id].on_stack = false;
        member->component = (int)(*components)->len;
        g_ptr_array_add(component, member);
      } while (member != node);
      reverse(component);
      g_ptr_array_add(*components, component);
      legal &= component_is_legal(component);
    }
  }
  return legal;
}
