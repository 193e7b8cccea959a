// Signals: what a cluster has to do with them, where they are for its code, and how that calls them.
#include "lss/plan/plan.h"

static void add_touching(Plan *plan, const Vertex *node, Wire *wire) {
  GPtrArray *wires = plan->wires_of[node->cluster->id];
  if (!wires->len || wires->pdata[wires->len - 1] != wire) g_ptr_array_add(wires, wire);
}

void plan_find_wires(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  plan->wires_of = g_new(GPtrArray *, schedule->clusters->len);
  for (guint i = 0; i < schedule->clusters->len; i++) plan->wires_of[i] = g_ptr_array_new();
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

static int connection_number(Cluster *cluster, const Connection *connection) {
  if (!cluster->numbers) {
    cluster->numbers = g_hash_table_new(NULL, NULL);
    int next = 1;
    for (guint i = 0; i < cluster->leaves->len; i++) {
      Instance *leaf = cluster->leaves->pdata[i];
      for (guint j = 0; j < leaf->ports->len; j++) {
        Port *port = leaf->ports->pdata[j];
        for (guint k = 0; k < port->lanes->len; k++)
          if (!g_hash_table_contains(cluster->numbers, port->lanes->pdata[k]))
            g_hash_table_insert(cluster->numbers, port->lanes->pdata[k], GINT_TO_POINTER(next++));
      }
    }
  }
  return GPOINTER_TO_INT(g_hash_table_lookup(cluster->numbers, connection)) - 1;
}

// The name of a wire within a cluster: "c12_d".
const char *plan_wire_base(Cluster *cluster, const Wire *wire, char *text, gsize size) {
  if (wire->kind == SIGNAL_LOCAL)
    g_snprintf(text, size, "l%d_%s_%d", plan_leaf_index(cluster, wire->instance), wire->local->name, wire->lane);
  else
    g_snprintf(text, size, "c%d_%c", connection_number(cluster, wire->connection), "dea"[wire->kind]);
  return text;
}

bool plan_visible(const Plan *plan, const Wire *wire) {
  return plan->debug || (wire->connection && wire->connection->visible);
}

// A wire lives where its writer is, unless that is the root, which can reach into the scratch of every other cluster.
Place plan_place(const Plan *plan, const Wire *wire, const Cluster *user, Cluster **owner) {
  const Vertex *writer = wire->writer;
  *owner = writer->cluster;
  if (plan->shown[wire->id].field) return PLACE_STATE;
  const Cluster *other = NULL;
  bool one_piece = true;
  for (guint i = 0; i < wire->readers->len; i++) {
    const Vertex *reader = wire->readers->pdata[i];
    if (plan->piece_of[reader->id] != plan->piece_of[writer->id]) one_piece = false;
    if (reader->cluster != writer->cluster) other = reader->cluster;
  }
  if (one_piece && !plan_visible(plan, wire)) return PLACE_LOCAL;
  if (!writer->cluster->instance && other) *owner = (Cluster *)other;
  if (*owner == user) return PLACE_SCRATCH;
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

GPtrArray *plan_border(const Plan *plan, const Cluster *cluster, const Segment *reader) {
  GPtrArray *wires = g_ptr_array_new();
  const GPtrArray *all = plan->wires_of[cluster->id];
  const Vertex *first = reader && reader->items->len ? ((Item *)reader->items->pdata[0])->nodes->pdata[0] : NULL;
  for (guint i = 0; i < all->len; i++) {
    Wire *wire = all->pdata[i];
    if (wire->kind == SIGNAL_LOCAL) continue;
    bool own = wire->writer->cluster == cluster, crosses = false, read = false;
    for (guint k = 0; k < wire->readers->len; k++) {
      const Vertex *node = wire->readers->pdata[k];
      crosses |= (node->cluster == cluster) != own;
      read |= first && !own && plan->segment_of[node->id] == plan->segment_of[first->id];
    }
    if (reader ? read : crosses) g_ptr_array_add(wires, wire);
  }
  return wires;
}

GPtrArray *plan_driven(const Plan *plan, const Segment *segment) {
  g_autoptr(GPtrArray) all = plan_border(plan, segment->cluster, NULL);
  GPtrArray *own = g_ptr_array_new();
  const Vertex *first = ((Item *)segment->items->pdata[0])->nodes->pdata[0];
  for (guint i = 0; i < all->len; i++) {
    const Vertex *writer = ((Wire *)all->pdata[i])->writer;
    if (writer->cluster == segment->cluster && plan->segment_of[writer->id] == plan->segment_of[first->id])
      g_ptr_array_add(own, all->pdata[i]);
  }
  return own;
}
