// Signals: what a cluster has to do with them, where they are for its code, and how that calls them.
#include "lss/plan/plan.h"

static void add_touching(Plan *plan, const Vertex *node, Wire *wire) {
  GPtrArray *wires = plan->clusters[node->cluster->id].wires;
  if (!wires->len || wires->pdata[wires->len - 1] != wire) g_ptr_array_add(wires, wire);
}

void plan_find_wires(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  for (guint i = 0; i < schedule->clusters->len; i++) plan->clusters[i].wires = g_ptr_array_new();
  for (guint i = 0; i < schedule->wires->len; i++) {
    Wire *wire = schedule->wires->pdata[i];
    if (!wire->writer) continue;
    add_touching(plan, wire->writer, wire);
    for (guint k = 0; k < wire->readers->len; k++) add_touching(plan, wire->readers->pdata[k], wire);
  }
}

int plan_leaf_index(const Cluster *cluster, const Instance *instance) {
  return cluster->leaf_index[instance->id];
}

bool plan_visible(const Plan *plan, const Wire *wire) {
  return plan->debug || (wire->connection && wire->connection->visible);
}

// A wire lives where its writer is, unless that is the root, which can reach into the scratch of every other cluster.
static void find_place(const Plan *plan, const Wire *wire, WirePlan *found) {
  const Vertex *writer = wire->writer;
  found->owner = writer->cluster;
  found->place = PLACE_STATE;
  if (found->shown.field) return;
  Cluster *other = NULL;
  bool one_piece = true;
  for (guint i = 0; i < wire->readers->len; i++) {
    const Vertex *reader = wire->readers->pdata[i];
    if (plan->piece_of[reader->id] != plan->piece_of[writer->id]) one_piece = false;
    if (reader->cluster != writer->cluster) other = reader->cluster;
  }
  found->place = one_piece && !plan_visible(plan, wire) ? PLACE_LOCAL : PLACE_SCRATCH;
  if (found->place == PLACE_SCRATCH && !writer->cluster->instance && other) found->owner = other;
}

void plan_find_places(Plan *plan) {
  for (guint i = 0; i < plan->schedule->wires->len; i++) {
    const Wire *wire = plan->schedule->wires->pdata[i];
    if (wire->writer) find_place(plan, wire, &plan->wires[i]);
  }
}

Place plan_place(const Plan *plan, const Wire *wire, const Cluster *user) {
  const WirePlan *found = &plan->wires[wire->id];
  if (found->place != PLACE_SCRATCH || found->owner == user) return found->place;
  return user->instance ? PLACE_POINTER : PLACE_FOREIGN;
}

// Values larger than a register travel between functions by address, the others by value.
bool plan_by_pointer(const Type *type) {
  return type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY || (type->kind == TYPE_BITS && type->bits > 64);
}

// Where nothing is sent, such a value is zero when somebody looks (ports.c), and not before: most who find nothing
// do not look.
bool plan_left_unset(const Plan *plan, const Wire *wire) {
  if (plan->debug || wire->flagged || !plan_by_pointer(wire->connection->type)) return false;
  return !plan_flagged(plan, wire->connection->from->instance) && !plan_flagged(plan, wire->connection->to->instance);
}

static int segment_number(const Plan *plan, const Segment *segment) {
  return plan->segment_of[((Vertex *)((Item *)segment->items->pdata[0])->nodes->pdata[0])->id];
}

const SegmentPlan *plan_of_segment(const Plan *plan, const Segment *segment) {
  return &plan->segments[segment_number(plan, segment)];
}

// Adds a wire to the lists of a cluster that it crosses the border of.
static void add_crossing(Plan *plan, const Cluster *cluster, Wire *wire) {
  const bool own = wire->writer->cluster == cluster;
  bool crosses = false;
  for (guint k = 0; k < wire->readers->len; k++) {
    const Vertex *reader = wire->readers->pdata[k];
    crosses |= (reader->cluster == cluster) != own;
    if (own || reader->cluster != cluster) continue;
    GPtrArray *reads = plan->segments[plan->segment_of[reader->id]].reads;
    if (!reads->len || reads->pdata[reads->len - 1] != wire) g_ptr_array_add(reads, wire);
  }
  if (!crosses) return;
  g_ptr_array_add(plan->clusters[cluster->id].border, wire);
  if (own) g_ptr_array_add(plan->segments[plan->segment_of[wire->writer->id]].drives, wire);
}

void plan_find_border(Plan *plan) {
  for (guint i = 0; i < plan->schedule->clusters->len; i++) {
    const Cluster *cluster = plan->schedule->clusters->pdata[i];
    if (!cluster->instance) continue;
    ClusterPlan *found = &plan->clusters[i];
    found->border = g_ptr_array_new();
    for (guint k = 0; k < cluster->segments->len; k++)
      plan->segments[segment_number(plan, cluster->segments->pdata[k])] =
          (SegmentPlan){g_ptr_array_new(), g_ptr_array_new()};
    for (guint k = 0; k < found->wires->len; k++) {
      Wire *wire = found->wires->pdata[k];
      if (wire->kind != SIGNAL_LOCAL) add_crossing(plan, cluster, wire);
    }
  }
}
