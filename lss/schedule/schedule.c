// Builds the dependency graph of a machine's functions from what they declare to read and write.
#include "lss/schedule/schedule.h"

enum { WIRES_PER_CONNECTION = 3 };

static Wire *wire_new(Schedule *schedule) {
  Wire *wire = g_new0(Wire, 1);
  wire->id = (int)schedule->wires->len;
  wire->readers = schedule->nothing;
  g_ptr_array_add(schedule->wires, wire);
  return wire;
}

static void make_wires(Schedule *schedule) {
  Netlist *netlist = schedule->netlist;
  for (guint i = 0; i < netlist->connections->len; i++) {
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
      Wire *wire = wire_new(schedule);
      wire->kind = (SignalKind)kind;
      wire->connection = netlist->connections->pdata[i];
    }
  }
  schedule->local_base = g_new0(int, netlist->instances->len);
  for (guint i = 0; i < netlist->leaves->len; i++) {
    Instance *instance = netlist->leaves->pdata[i];
    schedule->local_base[instance->id] = (int)schedule->wires->len;
    for (guint j = 0; j < instance->locals->len; j++) {
      Local *local = instance->locals->pdata[j];
      for (int lane = 0; lane < MAX(local->lanes, 1); lane++) {
        Wire *wire = wire_new(schedule);
        wire->kind = SIGNAL_LOCAL;
        wire->instance = instance;
        wire->local = local;
        wire->lane = lane;
      }
    }
  }
}

Wire *schedule_port_wire(const Schedule *schedule, const Port *port, SignalKind kind, int lane) {
  if (lane >= (int)port->lanes->len) return NULL;
  Connection *connection = port->lanes->pdata[lane];
  if (!connection) return NULL;
  if (kind == SIGNAL_ENABLE && !connection->from->drives_enable) kind = SIGNAL_ACK;
  return schedule->wires->pdata[connection->id * WIRES_PER_CONNECTION + (int)kind];
}

Wire *schedule_wire(const Schedule *schedule, const Instance *instance, const Signal *signal) {
  if (signal->kind != SIGNAL_LOCAL) return schedule_port_wire(schedule, signal->port, signal->kind, signal->lane);
  int base = schedule->local_base[instance->id];
  for (guint j = 0; j < instance->locals->len; j++) {
    Local *local = instance->locals->pdata[j];
    if (local == signal->local) return schedule->wires->pdata[base + signal->lane];
    base += MAX(local->lanes, 1);
  }
  return NULL;
}

static Vertex *vertex_new(Schedule *schedule, VertexKind kind, Instance *instance, Clock *clock) {
  Vertex *node = g_new0(Vertex, 1);
  node->kind = kind;
  node->instance = instance;
  node->clock = clock;
  node->reads = node->writes = node->before = schedule->nothing;
  node->id = (int)schedule->nodes->len;
  g_ptr_array_add(schedule->nodes, node);
  return node;
}

// Many lists stay empty: these share one.
static void add_to(const Schedule *schedule, GPtrArray **list, gpointer element) {
  if (*list == schedule->nothing) *list = g_ptr_array_new();
  g_ptr_array_add(*list, element);
}

// The reads of a node are added one after the other, so the last reader of a wire says whether it is there already.
static void add_read(const Schedule *schedule, Vertex *node, Wire *wire) {
  if (!wire || wire->always) return;
  if (wire->readers->len && wire->readers->pdata[wire->readers->len - 1] == node) return;
  add_to(schedule, &node->reads, wire);
  add_to(schedule, &wire->readers, node);
}

// Likewise, all that is before a node is added together.
static void add_before(const Schedule *schedule, Vertex *node, Vertex *earlier) {
  if (!earlier || earlier == node || earlier->required_by == node) return;
  earlier->required_by = node;
  add_to(schedule, &node->before, earlier);
}

// What must have run before a node: for a phase_end the rest of its instance, whose nodes are beside it, and whatever
// writes what it reads.
static void find_before(Schedule *schedule, Vertex *node) {
  bool end = node->kind == VERTEX_FUNCTION && node->function->kind == FUNCTION_PHASE_END;
  int first = node->id, after = node->id;
  while (end && first > 0 && ((Vertex *)schedule->nodes->pdata[first - 1])->instance == node->instance) first--;
  while (end && after < (int)schedule->nodes->len &&
         ((Vertex *)schedule->nodes->pdata[after])->instance == node->instance)
    after++;
  for (int i = first; i < after; i++) {
    Vertex *other = schedule->nodes->pdata[i];
    bool counts = other->kind == VERTEX_FUNCTION && other->function->kind != FUNCTION_PHASE_END;
    if (counts && other->clock == node->clock) add_before(schedule, node, other);
  }
  for (guint j = 0; j < node->reads->len; j++) add_before(schedule, node, ((Wire *)node->reads->pdata[j])->writer);
}

// phase_end sees every signal of its instance that belongs to its domain.
static void add_all_signals(Schedule *schedule, Vertex *node) {
  Instance *instance = node->instance;
  for (guint i = 0; i < instance->ports->len; i++) {
    Port *port = instance->ports->pdata[i];
    if (port->clock != node->clock) continue;
    for (guint lane = 0; lane < port->lanes->len; lane++)
      for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++)
        add_read(schedule, node, schedule_port_wire(schedule, port, (SignalKind)kind, (int)lane));
  }
}

static void add_locals(Schedule *schedule, Vertex *node) {
  Instance *instance = node->instance;
  int count = 0;
  for (guint j = 0; j < instance->locals->len; j++) count += MAX(((Local *)instance->locals->pdata[j])->lanes, 1);
  for (int i = 0; i < count; i++) {
    Wire *wire = schedule->wires->pdata[schedule->local_base[instance->id] + i];
    if (!wire->writer || wire->writer->clock == node->clock) add_read(schedule, node, wire);
  }
}

static void mark_always(Schedule *schedule) {
  Netlist *netlist = schedule->netlist;
  for (guint i = 0; i < netlist->leaves->len; i++) {
    Instance *instance = netlist->leaves->pdata[i];
    for (guint j = 0; j < instance->functions->len; j++) {
      Function *function = instance->functions->pdata[j];
      for (guint k = 0; function->kind == FUNCTION_ALWAYS && k < function->writes->len; k++) {
        Wire *wire = schedule_wire(schedule, instance, &g_array_index(function->writes, Signal, k));
        if (wire) wire->always = true;
      }
    }
  }
}

static void make_nodes(Schedule *schedule) {
  Netlist *netlist = schedule->netlist;
  mark_always(schedule);
  for (guint i = 0; i < netlist->leaves->len; i++) {
    Instance *instance = netlist->leaves->pdata[i];
    for (guint j = 0; j < instance->functions->len; j++) {
      Function *function = instance->functions->pdata[j];
      if (function->kind != FUNCTION_PHASE_START && function->kind != FUNCTION_HANDLER &&
          function->kind != FUNCTION_PHASE_END)
        continue;
      Vertex *node =
          vertex_new(schedule, VERTEX_FUNCTION, instance, function->clock ? function->clock : instance->clock);
      node->function = function;
      for (guint k = 0; k < function->reads->len; k++)
        add_read(schedule, node, schedule_wire(schedule, instance, &g_array_index(function->reads, Signal, k)));
      for (guint k = 0; k < function->writes->len; k++) {
        Wire *wire = schedule_wire(schedule, instance, &g_array_index(function->writes, Signal, k));
        if (!wire || wire->writer == node) continue;
        add_to(schedule, &node->writes, wire);
        wire->writer = node;
      }
    }
  }
  for (guint i = 0; i < schedule->nodes->len; i++) {
    Vertex *node = schedule->nodes->pdata[i];
    if (node->function->kind != FUNCTION_PHASE_END) continue;
    add_all_signals(schedule, node);
    add_locals(schedule, node);
  }
}

// Observers of connections: they see the three signals once all are known.
static void make_probes(Schedule *schedule, const ScheduleOptions *options) {
  Netlist *netlist = schedule->netlist;
  schedule->probed = g_new0(bool, netlist->connections->len + 1);
  for (guint i = 0; i < netlist->connections->len; i++) schedule->probed[i] = options->collect_connections;
  for (guint i = 0; i < netlist->collectors->len; i++) {
    Collector *collector = netlist->collectors->pdata[i];
    if (!collector->on_connections) continue;
    for (guint j = 0; j < collector->connections->len; j++)
      schedule->probed[((Connection *)collector->connections->pdata[j])->id] = true;
  }
  for (guint i = 0; i < netlist->connections->len; i++) {
    if (!schedule->probed[i]) continue;
    Connection *connection = netlist->connections->pdata[i];
    Vertex *node = vertex_new(schedule, VERTEX_PROBE, connection->to->instance, connection->to->clock);
    node->connection = connection;
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++)
      add_read(schedule, node, schedule_port_wire(schedule, connection->to, (SignalKind)kind, connection->to_lane));
  }
}

Schedule *schedule_build(Netlist *netlist, const ScheduleOptions *options) {
  g_autoptr(Schedule) schedule = g_new0(Schedule, 1);
  schedule->netlist = netlist;
  schedule->wires = g_ptr_array_new();
  schedule->nodes = g_ptr_array_new();
  schedule->nothing = g_ptr_array_new();
  schedule->clusters = g_ptr_array_new();
  schedule->steps = g_new0(GPtrArray *, netlist->clocks->len);
  for (guint i = 0; i < netlist->clocks->len; i++) schedule->steps[i] = g_ptr_array_new();
  make_wires(schedule);
  make_nodes(schedule);
  make_probes(schedule, options);
  for (guint i = 0; i < schedule->nodes->len; i++) find_before(schedule, schedule->nodes->pdata[i]);
  GPtrArray *components = NULL;
  if (!schedule_components(schedule, &components)) return NULL;
  clusters_choose(schedule, options);
  // A loop must be iterated in one C function, so its instances share a cluster.
  schedule_order(schedule, components);
  return g_steal_pointer(&schedule);
}

static void free_all(GPtrArray *array) {
  for (guint i = 0; array && i < array->len; i++) g_free(array->pdata[i]);
  if (array) g_ptr_array_free(array, TRUE);
}

static void free_list(const Schedule *schedule, GPtrArray *list) {
  if (list != schedule->nothing) g_ptr_array_free(list, TRUE);
}

void schedule_free(Schedule *schedule) {
  if (!schedule) return;
  for (guint i = 0; i < schedule->wires->len; i++) free_list(schedule, ((Wire *)schedule->wires->pdata[i])->readers);
  for (guint i = 0; i < schedule->nodes->len; i++) {
    Vertex *node = schedule->nodes->pdata[i];
    free_list(schedule, node->reads);
    free_list(schedule, node->writes);
    free_list(schedule, node->before);
  }
  for (guint i = 0; i < schedule->clusters->len; i++) {
    Cluster *cluster = schedule->clusters->pdata[i];
    for (guint j = 0; j < cluster->segments->len; j++) {
      Segment *segment = cluster->segments->pdata[j];
      for (guint k = 0; k < segment->items->len; k++) g_ptr_array_free(((Item *)segment->items->pdata[k])->nodes, TRUE);
      free_all(segment->items);
    }
    free_all(cluster->segments);
    g_ptr_array_free(cluster->leaves, TRUE);
    g_ptr_array_free(cluster->probes, TRUE);
  }
  for (guint i = 0; i < schedule->netlist->clocks->len; i++) g_ptr_array_free(schedule->steps[i], TRUE);
  g_free(schedule->steps);
  free_all(schedule->wires);
  free_all(schedule->nodes);
  free_all(schedule->clusters);
  g_free(schedule->local_base);
  g_free(schedule->probed);
  g_free(schedule->cluster_of);
  g_free(schedule->leaf_index);
  g_free(schedule->probe_index);
  g_ptr_array_free(schedule->nothing, TRUE);
  g_free(schedule);
}
