// Who waits for whom, when a run makes no progress: items that are offered and not accepted, of which debug builds keep
// the signals, and what modules say in awaits().  The waits make a graph of instances; it is printed from its ends, so
// that the instance that waits for no other comes first, and each that waits for it below.
#include "lss/runtime/engine/machine.h"

#include <glib.h>

enum { MOST_INDENTED = 12, OUTSIDE = -1, UNSEEN = 0 };

static const spinach_machine *const machine = &spinach_machine_table;

typedef struct {
  int32_t waiter, awaited; // instances; OUTSIDE: what comes from no instance
  char *text;
  bool printed;
} Wait;

static GArray *waits; // Wait

static void add(int32_t waiter, int32_t awaited, char *text) {
  const Wait wait = {waiter, awaited, text, false};
  g_array_append_val(waits, wait);
}

// ---- What waits ----------------------------------------------------------------------------------------------------

static void take_offer(const spinach_connection *c, bool accepted, const char *item, void *data) {
  (void)data;
  if (accepted)
    add(c->to_instance, c->from_instance,
        g_strdup_printf("%s is accepted by %s and does not commit %s", c->from, c->to, item));
  else
    add(c->from_instance, c->to_instance,
        g_strdup_printf("%s offers %s and waits for %s to accept", c->from, item, c->to));
}

// Whether an end of a connection, "nic.memory.request" or "arb.in[1]", is this port of the instance, which C calls
// `memory_request`.
static bool is_port(const char *end, int32_t instance, const char *port) {
  const size_t path = strlen(machine->instances[instance].path);
  if (strlen(end) <= path) return false;
  const char *name = end + path + (path > 0);
  for (; *port; port++, name++)
    if (*name != *port && !(*name == '.' && *port == '_')) return false;
  return !*name || *name == '[';
}

static void take_wait(uint32_t id, const char *port, int lane, const char *text) {
  const int32_t waiter = (int32_t)id;
  for (uint32_t i = 0; i < machine->connection_count; i++) {
    const spinach_connection *c = &machine->connections[i];
    const bool in = c->to_instance == waiter && c->to_lane == lane && is_port(c->to, waiter, port);
    if (!in && !(c->from_instance == waiter && c->from_lane == lane && is_port(c->from, waiter, port))) continue;
    add(waiter, in ? c->from_instance : c->to_instance,
        g_strdup_printf("%s waits for %s: %s", machine->instances[waiter].path, in ? c->from : c->to, text));
    return;
  }
}

static void take_remark(const char *path, const char *text) {
  for (uint32_t i = 0; i < machine->instance_count; i++)
    if (!strcmp(machine->instances[i].path, path)) add((int32_t)i, OUTSIDE, g_strdup_printf("%s %s", path, text));
}

static void clear_wait(void *wait) {
  g_free(((Wait *)wait)->text);
}

static void collect(void) {
  waits = g_array_new(FALSE, TRUE, sizeof(Wait));
  g_array_set_clear_func(waits, clear_wait);
  spinach_on_remark = take_remark;
  spinach_on_wait = take_wait;
  for (uint32_t i = 0; i < machine->cluster_count; i++)
    if (machine->clusters[i].awaits) machine->clusters[i].awaits(spinach_cluster_state[i]);
  spinach_on_wait = NULL;
  spinach_on_remark = NULL;
  if (machine->debug) spinach_each_wait(take_offer, NULL);
}

// ---- Their order ---------------------------------------------------------------------------------------------------

// Tarjan's algorithm: instances that wait for each other are one component, and a component is complete after all for
// which it waits.
typedef struct {
  uint32_t *seen, *low; // per instance: when it was first seen, from 1; the least that it leads to
  uint32_t *component;  // per instance, from 1 in the order in which they are complete; UNSEEN: not complete
  uint32_t seen_count, component_count;
  GArray *open; // int32_t: instances of components that are not complete
} Search;

static void visit(Search *search, int32_t instance) {
  search->seen[instance] = search->low[instance] = ++search->seen_count;
  g_array_append_val(search->open, instance);
  for (guint i = 0; i < waits->len; i++) {
    const Wait *wait = &g_array_index(waits, Wait, i);
    if (wait->waiter != instance || wait->awaited == OUTSIDE) continue;
    if (search->seen[wait->awaited] == UNSEEN) visit(search, wait->awaited);
    if (search->component[wait->awaited] == UNSEEN)
      search->low[instance] = MIN(search->low[instance], search->low[wait->awaited]);
  }
  if (search->low[instance] != search->seen[instance]) return;
  search->component_count++;
  for (int32_t member = OUTSIDE; member != instance;) {
    member = g_array_index(search->open, int32_t, search->open->len - 1);
    g_array_set_size(search->open, search->open->len - 1);
    search->component[member] = search->component_count;
  }
}

// ---- Printing ------------------------------------------------------------------------------------------------------

static void print(FILE *out, Wait *wait, int depth) {
  fprintf(out, "  %*s%s\n", 2 * MIN(depth, MOST_INDENTED), "", wait->text);
  wait->printed = true;
}

// Those that wait for it, and below each those that wait for that one.
static void print_waiters(FILE *out, int32_t instance, int depth) {
  for (guint i = 0; i < waits->len; i++) {
    Wait *wait = &g_array_index(waits, Wait, i);
    if (wait->printed || wait->awaited != instance) continue;
    print(out, wait, depth);
    print_waiters(out, wait->waiter, depth + 1);
  }
}

// Instances that wait for each other, or for themselves, and then those that wait for one of them.
static void print_component(FILE *out, const Search *search, uint32_t component) {
  bool circle = false;
  for (guint i = 0; i < waits->len; i++) {
    Wait *wait = &g_array_index(waits, Wait, i);
    if (wait->printed || wait->awaited == OUTSIDE || search->component[wait->awaited] != component ||
        search->component[wait->waiter] != component)
      continue;
    if (!circle) fprintf(out, "  these wait for each other:\n");
    circle = true;
    print(out, wait, 1);
  }
  for (uint32_t k = 0; k < machine->instance_count; k++)
    if (search->component[k] == component) print_waiters(out, (int32_t)k, circle ? 2 : 0);
}

static void print_all(FILE *out) {
  const uint32_t n = machine->instance_count;
  Search search = {
      g_new0(uint32_t, n), g_new0(uint32_t, n), g_new0(uint32_t, n), 0, 0, g_array_new(FALSE, FALSE, sizeof(int32_t))};
  for (guint i = 0; i < waits->len; i++) {
    const int32_t waiter = g_array_index(waits, Wait, i).waiter;
    if (search.seen[waiter] == UNSEEN) visit(&search, waiter);
  }
  print_waiters(out, OUTSIDE, 0);
  for (uint32_t c = 1; c <= search.component_count; c++) print_component(out, &search, c);
  g_free(search.seen);
  g_free(search.low);
  g_free(search.component);
  g_array_unref(search.open);
}

void spinach_print_waits(FILE *out) {
  collect();
  if (waits->len)
    fprintf(out, "  what waits, innermost cause first:\n");
  else if (machine->debug)
    fprintf(out, "  no port waits for another: nothing is offered that is not taken\n");
  print_all(out);
  if (!machine->debug) fprintf(out, "which ports wait is known to machines built with --debug\n");
  g_clear_pointer(&waits, g_array_unref);
}
