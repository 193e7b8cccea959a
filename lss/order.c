// Orders the nodes of the dependency graph: finds its strongly connected components, reports loops that nobody may
// iterate, and lays the rest out in segments, cluster by cluster.
//
// Components come from Tarjan's algorithm, iterative because machines can be deep.  The layout works in rounds: in each
// round every cluster but the root runs all that is ready, judged by what was known when the round began, so that identical clusters
// in identical surroundings get identical segments; then the root runs all it can.
#include "lss/diagnostics.h"
#include "lss/schedule.h"

#include <string.h>

typedef struct {
  int index, low;
  bool on_stack;
  guint next; // edge to follow
} Visit;

// The path is told from the wire a handler waits for to the handler that writes it, until it closes.
static void report_loop(Schedule *schedule, GPtrArray *component) {
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
      if (earlier == start) last = node;
      else if (!g_hash_table_contains(reached_from, earlier)) {
        g_hash_table_insert(reached_from, earlier, node);
        g_ptr_array_add(queue, earlier);
      }
    }
    if (g_ptr_array_find(node->reads, node, NULL)) last = node;
  }
  // `last` waits for `start`; walk from start (a writer) along what it waits for.
  g_autoptr(GPtrArray) path = g_ptr_array_new(); // each node waits for the one before it
  for (Node *node = last; node; node = node == start ? NULL : g_hash_table_lookup(reached_from, node)) g_ptr_array_add(path, node);
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
  diag_error(start->function->location, "combinational-loop", "a loop within one cycle: %s -> back to the start", text->str);
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
  (void)schedule;
}

static bool component_is_legal(Schedule *schedule, GPtrArray *component) {
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
      report_loop(schedule, component);
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
        if (!other->index) g_ptr_array_add(path, earlier);
        else if (other->on_stack) visit->low = MIN(visit->low, other->index);
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
        g_ptr_array_insert(component, 0, member);
      } while (member != node);
      g_ptr_array_add(*components, component);
      legal &= component_is_legal(schedule, component);
    }
  }
  return legal;
}

static int by_id(gconstpointer a, gconstpointer b) { return (*(Node *const *)a)->id - (*(Node *const *)b)->id; }

static bool has_self_loop(const Node *node) {
  for (guint i = 0; i < node->reads->len; i++)
    if (((Wire *)node->reads->pdata[i])->writer == node) return true;
  return false;
}

typedef struct {
  Schedule *schedule;
  GPtrArray *components;
  int *waiting;        // per component: components before it that have not run
  GPtrArray **after;   // per component: GPtrArray of components (as pointers to int indices)
  bool *done;
} Order;

// What runs early: functions that drive signals from state alone wait for nobody, so they run just before the first
// that wants what they drive, and the others are judged by what else they wait for.
static bool drives_from_state(const Order *order, int c) {
  GPtrArray *component = order->components->pdata[c];
  const Node *node = component->pdata[0];
  return component->len == 1 && node->kind == NODE_FUNCTION && node->before->len == 0;
}

static bool ends_cycle(const Order *order, int c) {
  const Node *node = ((GPtrArray *)order->components->pdata[c])->pdata[0];
  return node->kind == NODE_PROBE || node->function->kind == FUNCTION_PHASE_END;
}

static Node *first_node(const Order *order, int c) { return ((GPtrArray *)order->components->pdata[c])->pdata[0]; }

static void append_item(Order *order, Segment *segment, int c) {
  GPtrArray *component = order->components->pdata[c];
  Item *item = g_new0(Item, 1);
  item->nodes = g_ptr_array_copy(component, NULL, NULL);
  g_ptr_array_sort(item->nodes, by_id);
  item->iterated = component->len > 1 || has_self_loop(component->pdata[0]);
  g_ptr_array_add(segment->items, item);
  order->done[c] = true;
}

// One cluster's turn: what is ready, in two stacks, so that the latest consequences come first.
typedef struct {
  Order *order;
  Segment *segment;
  GQueue ends, others; // components whose only unfinished predecessors are drivers from state that are `drivers` here
  GHashTable *drivers; // components that drive from state and have not run
} Turn;

static void push_ready(Turn *turn, int c) {
  g_queue_push_head(ends_cycle(turn->order, c) ? &turn->ends : &turn->others, GINT_TO_POINTER(c));
}

// Counts one predecessor as done, or as free to run when wanted, for all that wait for component `c`.
static void release(Turn *turn, int c) {
  Order *order = turn->order;
  Segment *segment = turn->segment;
  for (guint i = order->after[c]->len; i-- > 0;) {
    int later = GPOINTER_TO_INT(order->after[c]->pdata[i]);
    if (--order->waiting[later] > 0) continue;
    Node *first = first_node(order, later);
    if (first->cluster == segment->cluster && first->clock == segment->clock) push_ready(turn, later);
  }
}

static void run_drivers_of(Turn *turn, int c) {
  GPtrArray *component = turn->order->components->pdata[c];
  for (guint i = 0; i < component->len; i++) {
    Node *node = component->pdata[i];
    for (guint j = 0; j < node->before->len; j++) {
      gpointer driver = GINT_TO_POINTER(((Node *)node->before->pdata[j])->component);
      if (g_hash_table_remove(turn->drivers, driver)) append_item(turn->order, turn->segment, GPOINTER_TO_INT(driver));
    }
  }
}

// Adds all that is ready in a cluster to a new segment, following what becomes ready on the way.  Components that
// become ready elsewhere are left for later.  The order keeps few signals alive at a time, so that they can be registers: the end
// of an instance's cycle comes as soon as all its signals are known, what drives signals from state as late as possible.
static void run_cluster(Order *order, Cluster *cluster, Clock *clock, GQueue *ready) {
  if (g_queue_is_empty(ready)) return;
  Segment *segment = g_new0(Segment, 1);
  segment->cluster = cluster;
  segment->clock = clock;
  segment->items = g_ptr_array_new();
  segment->index = (int)cluster->segments->len;
  g_ptr_array_add(cluster->segments, segment);
  g_ptr_array_add(order->schedule->steps[clock->id], segment);
  Turn turn = {.order = order, .segment = segment, .drivers = g_hash_table_new(NULL, NULL)};
  g_queue_init(&turn.ends);
  g_queue_init(&turn.others);
  for (GList *l = ready->tail; l; l = l->prev)
    if (!drives_from_state(order, GPOINTER_TO_INT(l->data))) push_ready(&turn, GPOINTER_TO_INT(l->data));
  for (GList *l = ready->tail; l; l = l->prev)
    if (drives_from_state(order, GPOINTER_TO_INT(l->data))) g_hash_table_add(turn.drivers, l->data);
  for (GList *l = ready->tail; l; l = l->prev)
    if (drives_from_state(order, GPOINTER_TO_INT(l->data))) release(&turn, GPOINTER_TO_INT(l->data));
  while (!g_queue_is_empty(&turn.ends) || !g_queue_is_empty(&turn.others)) {
    int c = GPOINTER_TO_INT(g_queue_pop_head(g_queue_is_empty(&turn.ends) ? &turn.others : &turn.ends));
    run_drivers_of(&turn, c);
    append_item(order, segment, c);
    release(&turn, c);
  }
  for (GList *l = ready->head; l; l = l->next) // wanted by other clusters, or by nobody
    if (g_hash_table_remove(turn.drivers, l->data)) append_item(order, segment, GPOINTER_TO_INT(l->data));
  g_queue_clear(ready);
  g_hash_table_unref(turn.drivers);
}

static int component_position(gconstpointer a, gconstpointer b, gpointer data) {
  Order *order = data;
  Node *first_a = ((GPtrArray *)order->components->pdata[GPOINTER_TO_INT(a)])->pdata[0];
  Node *first_b = ((GPtrArray *)order->components->pdata[GPOINTER_TO_INT(b)])->pdata[0];
  return first_a->id - first_b->id;
}

void schedule_order(Schedule *schedule, GPtrArray *components) {
  guint n = components->len;
  Order order = {schedule, components, g_new0(int, n + 1), g_new0(GPtrArray *, n + 1), g_new0(bool, n + 1)};
  for (guint i = 0; i < n; i++) order.after[i] = g_ptr_array_new();
  for (guint i = 0; i < schedule->nodes->len; i++) {
    Node *node = schedule->nodes->pdata[i];
    for (guint j = 0; j < node->before->len; j++) {
      Node *earlier = node->before->pdata[j];
      if (earlier->component == node->component) continue;
      g_ptr_array_add(order.after[earlier->component], GINT_TO_POINTER(node->component));
      order.waiting[node->component]++;
    }
  }
  for (guint k = 0; k < schedule->netlist->clocks->len; k++) {
    Clock *clock = schedule->netlist->clocks->pdata[k];
    for (bool any = true; any;) {
      any = false;
      GQueue *queues = g_new0(GQueue, schedule->clusters->len);
      for (guint i = 0; i < n; i++) {
        Node *first = ((GPtrArray *)components->pdata[i])->pdata[0];
        if (first->clock != clock || order.done[i] || order.waiting[i] > 0) continue;
        g_queue_insert_sorted(&queues[first->cluster->id], GINT_TO_POINTER((int)i), component_position, &order);
        any = true;
      }
      bool inner = false;
      for (guint c = 0; c < schedule->clusters->len; c++) {
        Cluster *cluster = schedule->clusters->pdata[c];
        if (!cluster->instance) continue;
        inner |= !g_queue_is_empty(&queues[c]);
        run_cluster(&order, cluster, clock, &queues[c]);
      }
      // The root waits until nothing else can go on, and then sees all that the others have made ready for it.
      for (guint c = 0; c < schedule->clusters->len; c++) {
        Cluster *cluster = schedule->clusters->pdata[c];
        if (!cluster->instance && !inner) run_cluster(&order, cluster, clock, &queues[c]);
        g_queue_clear(&queues[c]);
      }
      g_free(queues);
    }
  }
  for (guint i = 0; i < n; i++) g_ptr_array_free(order.after[i], TRUE);
  g_free(order.after);
  g_free(order.waiting);
  g_free(order.done);
  g_ptr_array_unref(components);
}
