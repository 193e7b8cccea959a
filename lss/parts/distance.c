// How far two parts of a network are apart, as a time: nothing that happens in one is known in the other sooner.
#include "lss/parts/parts.h"

// The greatest number of cuts on the shortest way from one part to any other.
static guint steps_from(const Network *network, guint from, GPtrArray *next) {
  g_autofree guint *steps = g_new0(guint, network->processes->len);
  g_autoptr(GQueue) queue = g_queue_new();
  guint most = 0;
  steps[from] = 1;
  g_queue_push_tail(queue, GUINT_TO_POINTER(from + 1));
  while (!g_queue_is_empty(queue)) {
    const guint at = GPOINTER_TO_UINT(g_queue_pop_head(queue)) - 1;
    const GArray *others = next->pdata[at];
    most = MAX(most, steps[at] - 1);
    for (guint i = 0; i < others->len; i++) {
      const guint to = g_array_index(others, guint, i);
      if (steps[to]) continue;
      steps[to] = steps[at] + 1;
      g_queue_push_tail(queue, GUINT_TO_POINTER(to + 1));
    }
  }
  return most;
}

// That number times the longest cut.
guint64 network_farthest(const Network *network) {
  g_autoptr(GPtrArray) next = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  guint64 longest = 0, most = 0;
  for (guint i = 0; i < network->processes->len; i++) g_ptr_array_add(next, g_array_new(FALSE, FALSE, sizeof(guint)));
  for (guint i = 0; i < network->borders->len; i++) {
    const Border *border = network->borders->pdata[i];
    g_array_append_val((GArray *)next->pdata[border->from], border->to);
    longest = MAX(longest, instance_cut(border->crossing, network->whole->ticks_per_second));
  }
  for (guint i = 0; i < network->processes->len; i++) most = MAX(most, steps_from(network, i, next));
  return MAX(most * longest, 1);
}
