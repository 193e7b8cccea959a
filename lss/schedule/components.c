// Finds the strongly connected components of the dependency graph, among them the loops that must not be iterated.
// Components come from Tarjan's algorithm, iterative because machines can be deep.
#include "lss/schedule/schedule.h"

typedef struct {
  int index, low;
  bool on_stack;
  guint next; // edge to follow
} Visit;

static void reverse(GPtrArray *array) {
  for (guint i = 0, k = array->len; i + 1 < k; i++) {
    gpointer last = array->pdata[--k];
    array->pdata[k] = array->pdata[i];
    array->pdata[i] = last;
  }
}

static bool component_is_legal(GPtrArray *component) {
  Vertex *only = component->pdata[0];
  bool loop = component->len > 1;
  if (!loop)
    for (guint i = 0; i < only->reads->len; i++) loop |= ((Wire *)only->reads->pdata[i])->writer == only;
  if (!loop) return true;
  bool partial = true;
  for (guint i = 0; i < component->len; i++) {
    Vertex *node = component->pdata[i];
    partial &= node->kind == VERTEX_FUNCTION && node->function->kind == FUNCTION_HANDLER && node->function->partial;
  }
  if (!partial) return false;
  for (guint i = 0; i < component->len; i++) {
    Vertex *node = component->pdata[i];
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
  g_autoptr(GPtrArray) illegal = g_ptr_array_new();
  for (guint root = 0; root < nodes->len; root++) {
    if (visits[root].index) continue;
    g_ptr_array_add(path, nodes->pdata[root]);
    while (path->len) {
      Vertex *node = path->pdata[path->len - 1];
      Visit *visit = &visits[node->id];
      if (!visit->index) {
        visit->index = visit->low = ++counter;
        visit->on_stack = true;
        g_ptr_array_add(stack, node);
      }
      if (visit->next < node->before->len) {
        Vertex *earlier = node->before->pdata[visit->next++];
        Visit *other = &visits[earlier->id];
        if (!other->index)
          g_ptr_array_add(path, earlier);
        else if (other->on_stack)
          visit->low = MIN(visit->low, other->index);
        continue;
      }
      g_ptr_array_set_size(path, (int)path->len - 1);
      if (path->len) {
        Visit *parent = &visits[((Vertex *)path->pdata[path->len - 1])->id];
        parent->low = MIN(parent->low, visit->low);
      }
      if (visit->low != visit->index) continue;
      GPtrArray *component = g_ptr_array_new();
      Vertex *member;
      do {
        member = stack->pdata[stack->len - 1];
        g_ptr_array_set_size(stack, (int)stack->len - 1);
        visits[member->id].on_stack = false;
        member->component = (int)(*components)->len;
        g_ptr_array_add(component, member);
      } while (member != node);
      reverse(component);
      g_ptr_array_add(*components, component);
      if (!component_is_legal(component)) g_ptr_array_add(illegal, component);
    }
  }
  report_loops(illegal);
  return illegal->len == 0;
}
