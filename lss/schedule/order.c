// Lays the components of the dependency graph out in segments, cluster by cluster, in rounds: in each round every
// cluster but the root runs what others wait for, judged by what was known when the round began, so that identical
// clusters in identical surroundings get identical segments; then the root does.  What nothing else waits for runs when
// the cluster can finish its cycle, so that its signals stay within one C function.
#include "lss/schedule/schedule.h"

#include <string.h>

static int by_id(gconstpointer a, gconstpointer b) {
  return (*(Vertex *const *)a)->id - (*(Vertex *const *)b)->id;
}

static bool has_self_loop(const Vertex *node) {
  for (guint i = 0; i < node->reads->len; i++)
    if (((Wire *)node->reads->pdata[i])->writer == node) return true;
  return false;
}

// Per component a list of components, all lists in one array: that of c from place first[c] to before first[c + 1].
typedef struct {
  guint *first;
  int *of;
} Lists;

typedef struct {
  Schedule *schedule;
  GPtrArray *components;
  int *waiting; // per component: components before it that have not run
  Lists after;
  Lists before;     // the same the other way round, drivers from state last
  guint *open;      // per component: the first place of its `before` that has not run
  int *weight;      // per component: scalars it brings to life
  int *seen, stamp; // of the last walk
  GArray *walk;
  bool *done;
  bool *expanded;  // per component: those after it know that it is able to run
  bool *wanted;    // per component: another cluster waits for it, directly or not
  guint *left;     // per cluster: components on the clock at work that have not run
  GArray **ready;  // per cluster: components without pending dependencies, as it saw them last, some of which have run
  GArray *arrived; // components on the clock at work that other clusters have made ready since the round began
} Order;

static Vertex *first_node(const Order *order, int c) {
  return ((GPtrArray *)order->components->pdata[c])->pdata[0];
}

// Functions that drive signals from state alone have no dependencies; they run before the first that needs what they
// drive.
static bool drives_from_state(const Order *order, int c) {
  const Vertex *node = first_node(order, c);
  return ((GPtrArray *)order->components->pdata[c])->len == 1 && node->kind == VERTEX_FUNCTION &&
         node->before->len == 0;
}

static bool ends_cycle(const Order *order, int c) {
  const Vertex *node = first_node(order, c);
  return node->kind == VERTEX_PROBE || node->function->kind == FUNCTION_PHASE_END;
}

// Whether a specialize local is known when it has run.
static bool decides(const Order *order, int c) {
  const Vertex *node = first_node(order, c);
  for (guint i = 0; i < node->writes->len; i++) {
    const Wire *wire = node->writes->pdata[i];
    if (wire->kind == SIGNAL_LOCAL && wire->local->specialize) return true;
  }
  return false;
}

// How many scalars a component brings to life: what it costs to run it early.
static int fields_of(const Type *type) {
  if (type->kind == TYPE_ARRAY) return MIN(type->length, 64) * fields_of(type->element);
  if (type->kind != TYPE_STRUCT) return 1;
  int n = 0;
  for (guint i = 0; i < type->fields->len; i++) n += fields_of(((Field *)type->fields->pdata[i])->type);
  return n;
}

static int weight_of(const Order *order, int c) {
  const GPtrArray *component = order->components->pdata[c];
  int weight = 1;
  for (guint i = 0; i < component->len; i++) {
    const Vertex *node = component->pdata[i];
    for (guint j = 0; j < node->writes->len; j++) {
      const Wire *wire = node->writes->pdata[j];
      weight += wire->kind == SIGNAL_DATA    ? fields_of(wire->connection->type)
                : wire->kind == SIGNAL_LOCAL ? fields_of(wire->local->type)
                                             : 1;
    }
  }
  return weight;
}

static void append_item(Order *order, Segment *segment, int c) {
  GPtrArray *component = order->components->pdata[c];
  Item *item = g_new0(Item, 1);
  item->nodes = g_ptr_array_copy(component, NULL, NULL);
  g_ptr_array_sort(item->nodes, by_id);
  item->iterated = component->len > 1 || has_self_loop(component->pdata[0]);
  g_ptr_array_add(segment->items, item);
  order->done[c] = true;
  order->left[segment->cluster->id]--;
}

// Extends what is ready in a cluster by what becomes ready on the way: all that can run in one go.
static void closure(Order *order, const Cluster *cluster, const Clock *clock, GArray *able) {
  for (guint k = 0; k < able->len; k++) {
    const int c = g_array_index(able, int, k);
    if (order->expanded[c]) continue;
    order->expanded[c] = true;
    for (guint i = order->after.first[c]; i < order->after.first[c + 1]; i++) {
      const int later = order->after.of[i];
      if (--order->waiting[later] > 0) continue;
      const Vertex *first = first_node(order, later);
      if (first->clock != clock) continue;
      g_array_append_val(first->cluster == cluster ? able : order->arrived, later);
    }
  }
}

// A walk over what must still run before a component, itself last; what drives from state comes before what waits.
typedef struct {
  int component;
  guint next;
} Step;

// Where the walk over what is before a component begins: behind what has run, so that a long list is not read each
// time.
static guint first_open(Order *order, int c) {
  guint *open = &order->open[c];
  while (*open < order->before.first[c + 1] && order->done[order->before.of[*open]]) (*open)++;
  return *open;
}

// Sums the weights of what would run, or runs it when `segment` is given.  Gives up when the sum exceeds `limit`.
static int complete(Order *order, int goal, int limit, Segment *segment) {
  const int stamp = ++order->stamp;
  int sum = 0;
  g_array_set_size(order->walk, 0);
  g_array_append_val(order->walk, ((Step){goal, first_open(order, goal)}));
  order->seen[goal] = stamp;
  while (order->walk->len) {
    Step *step = &g_array_index(order->walk, Step, order->walk->len - 1);
    if (step->next < order->before.first[step->component + 1]) {
      const int earlier = order->before.of[step->next++];
      if (order->done[earlier] || order->seen[earlier] == stamp) continue;
      order->seen[earlier] = stamp;
      g_array_append_val(order->walk, ((Step){earlier, first_open(order, earlier)}));
      continue;
    }
    sum += order->weight[step->component];
    if (sum > limit) return sum;
    if (segment) append_item(order, segment, step->component);
    g_array_set_size(order->walk, order->walk->len - 1);
  }
  return sum;
}

enum { CANDIDATES = 64 }; // phase ends looked at in each round, so that large clusters do not take quadratic time

enum { SMALL = 8 }; // weight of what a phase_end may still need to be completed before a decision

// What of a cluster runs now, among what can: everything when its cycle can be finished, else what others wait for.
static GArray *choose_now(Order *order, const Cluster *cluster, const Clock *clock, GArray *able) {
  closure(order, cluster, clock, able);
  GArray *now = g_array_new(FALSE, FALSE, sizeof(int));
  for (guint i = 0; i < able->len; i++) {
    const int c = g_array_index(able, int, i);
    if (able->len == order->left[cluster->id] || order->wanted[c]) g_array_append_val(now, c);
  }
  return now;
}

// Adds what runs now in a cluster to a new segment.  The order keeps few signals alive at a time, so that they can
// be registers: again and again the phase_end is completed that needs the least that has not run yet.  What decides how
// the rest is compiled goes first, and before it the phase_ends that what it needs has made ready.
static bool run_cluster(Order *order, Cluster *cluster, Clock *clock, GArray *ready) {
  if (!ready->len) return false;
  g_autoptr(GArray) able = choose_now(order, cluster, clock, ready), ends = g_array_new(FALSE, FALSE, sizeof(int));
  if (!able->len) return false;
  Segment *segment = g_new0(Segment, 1);
  segment->cluster = cluster;
  segment->clock = clock;
  segment->items = g_ptr_array_new();
  segment->index = (int)cluster->segments->len;
  g_ptr_array_add(cluster->segments, segment);
  g_ptr_array_add(order->schedule->steps[clock->id], segment);
  for (guint i = 0; i < able->len; i++)
    if (ends_cycle(order, g_array_index(able, int, i))) g_array_append_val(ends, g_array_index(able, int, i));
  for (guint i = 0, decided = 0; i < able->len; i++) {
    const int decision = g_array_index(able, int, i);
    if (!decides(order, decision)) continue;
    for (guint k = order->before.first[decision]; k < order->before.first[decision + 1]; k++) {
      const int earlier = order->before.of[k];
      if (!order->done[earlier]) complete(order, earlier, G_MAXINT, segment);
    }
    for (guint k = ends->len; k-- > 0;) {
      const int end = g_array_index(ends, int, k), limit = order->weight[end] + SMALL;
      if (complete(order, end, limit, NULL) > limit) continue;
      complete(order, end, G_MAXINT, segment);
      g_array_remove_index(ends, k);
    }
    if (!order->done[decision]) complete(order, decision, G_MAXINT, segment);
    if (++decided == DECISIONS) break;
  }
  for (guint first = 0; first < ends->len; first++) {
    guint best = first;
    int least = G_MAXINT;
    for (guint i = first; i < MIN(ends->len, first + CANDIDATES); i++) {
      int cost = complete(order, g_array_index(ends, int, i), least, NULL);
      if (cost < least) least = cost, best = i;
    }
    const int end = g_array_index(ends, int, best);
    complete(order, end, G_MAXINT, segment);
    // Those before it move up: the window slides on by one, and nothing else does.
    int *window = &g_array_index(ends, int, first);
    memmove(window + 1, window, (best - first) * sizeof(int));
  }
  for (guint i = 0; i < able->len; i++) // needed by other clusters, or by none
    if (!order->done[g_array_index(able, int, i)]) complete(order, g_array_index(able, int, i), G_MAXINT, segment);
  return true;
}

static int component_position(gconstpointer a, gconstpointer b, gpointer data) {
  const Order *order = data;
  return first_node(order, *(const int *)a)->id - first_node(order, *(const int *)b)->id;
}

static Order order_new(Schedule *schedule, GPtrArray *components) {
  const guint n = components->len, clusters = schedule->clusters->len;
  Order order = {.schedule = schedule,
                 .components = components,
                 .waiting = g_new0(int, n + 1),
                 .after = {.first = g_new0(guint, n + 2)},
                 .before = {.first = g_new0(guint, n + 2)},
                 .open = g_new0(guint, n + 1),
                 .weight = g_new0(int, n + 1),
                 .seen = g_new0(int, n + 1),
                 .walk = g_array_new(FALSE, FALSE, sizeof(Step)),
                 .done = g_new0(bool, n + 1),
                 .expanded = g_new0(bool, n + 1),
                 .wanted = g_new0(bool, n + 1),
                 .left = g_new0(guint, clusters),
                 .ready = g_new0(GArray *, clusters),
                 .arrived = g_array_new(FALSE, FALSE, sizeof(int))};
  for (guint i = 0; i < n; i++) order.weight[i] = weight_of(&order, (int)i);
  for (guint c = 0; c < clusters; c++) order.ready[c] = g_array_new(FALSE, FALSE, sizeof(int));
  return order;
}

static void order_free(Order *order) {
  for (guint c = 0; c < order->schedule->clusters->len; c++) g_array_unref(order->ready[c]);
  g_array_unref(order->arrived);
  g_free(order->ready);
  g_free(order->after.first);
  g_free(order->after.of);
  g_free(order->before.first);
  g_free(order->before.of);
  g_free(order->open);
  g_free(order->weight);
  g_free(order->seen);
  g_array_unref(order->walk);
  g_free(order->waiting);
  g_free(order->done);
  g_free(order->expanded);
  g_free(order->wanted);
  g_free(order->left);
  g_ptr_array_unref(order->components);
}

// Makes room for lists of which `first` counts, two places on, how long they are: each then begins at its place, one
// on, and moves there as it is filled.
static void lists_open(Lists *lists, guint n) {
  for (guint i = 2; i < n + 2; i++) lists->first[i] += lists->first[i - 1];
  lists->of = g_new(int, lists->first[n + 1] + 1);
}

static void lists_add(Lists *lists, int c, int component) {
  lists->of[lists->first[c + 1]++] = component;
}

static void find_after(Order *order) {
  const GPtrArray *nodes = order->schedule->nodes;
  for (int fill = 0; fill < 2; fill++) {
    for (guint i = 0; i < nodes->len; i++) {
      const Vertex *node = nodes->pdata[i];
      for (guint j = 0; j < node->before->len; j++) {
        const Vertex *earlier = node->before->pdata[j];
        if (earlier->component == node->component) continue;
        if (fill) {
          lists_add(&order->after, earlier->component, node->component);
        } else {
          order->after.first[earlier->component + 2]++;
          order->before.first[node->component + 2]++;
          order->waiting[node->component]++;
        }
      }
    }
    if (!fill) lists_open(&order->after, order->components->len), lists_open(&order->before, order->components->len);
  }
}

static void find_dependencies(Order *order) {
  const guint n = order->components->len;
  const Lists *after = &order->after;
  find_after(order);
  for (guint i = n; i-- > 0;) // components are in order: what comes after has a greater number
    for (guint j = after->first[i]; j < after->first[i + 1]; j++) {
      const int later = after->of[j];
      order->wanted[i] |=
          order->wanted[later] || first_node(order, later)->cluster != first_node(order, (int)i)->cluster;
    }
  for (int drivers = 1; drivers >= 0; drivers--)
    for (guint i = 0; i < n; i++)
      for (guint j = after->first[i]; drives_from_state(order, (int)i) == drivers && j < after->first[i + 1]; j++)
        lists_add(&order->before, after->of[j], (int)i);
  memcpy(order->open, order->before.first, n * sizeof *order->open);
}

static int cluster_position(gconstpointer a, gconstpointer b) {
  return (*(Cluster *const *)a)->id - (*(Cluster *const *)b)->id;
}

// Hands what has become ready since the last round to its clusters, which are gathered in `awake`.
static void begin_round(Order *order, GPtrArray *awake) {
  for (guint i = 0; i < order->arrived->len; i++) {
    const int c = g_array_index(order->arrived, int, i);
    Cluster *cluster = first_node(order, c)->cluster;
    if (order->done[c]) continue;
    g_array_append_val(order->ready[cluster->id], c);
    if (cluster->awake) continue;
    cluster->awake = true;
    g_ptr_array_add(awake, cluster);
  }
  g_array_set_size(order->arrived, 0);
  g_ptr_array_sort(awake, cluster_position);
}

// Looks at a cluster again, to which something has come since it was looked at last: whether it ran anything.
static bool visit(Order *order, Cluster *cluster, Clock *clock) {
  cluster->awake = false;
  GArray *ready = order->ready[cluster->id];
  guint kept = 0;
  for (guint i = 0; i < ready->len; i++)
    if (!order->done[g_array_index(ready, int, i)]) g_array_index(ready, int, kept++) = g_array_index(ready, int, i);
  g_array_set_size(ready, kept);
  g_array_sort_with_data(ready, component_position, order);
  return run_cluster(order, cluster, clock, ready);
}

// The segments of one clock, some of whose components have no pending dependencies.
static void order_clock(Order *order, Clock *clock, const GArray *components) {
  g_autoptr(GPtrArray) awake = g_ptr_array_new();
  for (guint i = 0; i < components->len; i++) {
    const int c = g_array_index(components, int, i);
    order->left[first_node(order, c)->cluster->id]++;
    if (!order->done[c] && order->waiting[c] <= 0) g_array_append_val(order->arrived, c);
  }
  bool opening = true; // the root goes first with what it knows from state, so that the others need not stop for it
  for (bool any = true; any; opening = false) {
    begin_round(order, awake);
    any = false;
    g_autoptr(GPtrArray) later = g_ptr_array_new();
    for (guint i = 0; i < awake->len; i++) {
      Cluster *cluster = awake->pdata[i];
      if (!cluster->instance || opening)
        g_ptr_array_add(later, cluster);
      else
        any |= visit(order, cluster, clock);
    }
    g_ptr_array_set_size(awake, 0);
    // The root waits until nothing else can continue, and then sees all that the others have made ready for it.
    for (guint i = 0; i < later->len; i++) {
      Cluster *cluster = later->pdata[i];
      if (!cluster->instance && !any)
        any = visit(order, cluster, clock);
      else
        g_ptr_array_add(awake, cluster);
    }
    any |= opening;
  }
  for (guint i = 0; i < awake->len; i++) ((Cluster *)awake->pdata[i])->awake = false;
}

void schedule_order(Schedule *schedule, GPtrArray *components) {
  Order order = order_new(schedule, components);
  find_dependencies(&order);
  const guint clocks = schedule->netlist->clocks->len;
  g_autofree GArray **of_clock = g_new0(GArray *, clocks);
  for (guint k = 0; k < clocks; k++) of_clock[k] = g_array_new(FALSE, FALSE, sizeof(int));
  for (guint i = 0; i < components->len; i++) g_array_append_val(of_clock[first_node(&order, (int)i)->clock->id], i);
  for (guint k = 0; k < clocks; k++) {
    order_clock(&order, schedule->netlist->clocks->pdata[k], of_clock[k]);
    g_array_unref(of_clock[k]);
  }
  order_free(&order);
}
