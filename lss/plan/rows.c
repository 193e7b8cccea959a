// Names of signals in C.  Signals of many alike connections or instances of a cluster are a row, an array in its C, so
// that their code can be a loop (lss/emit/roll.c).  Signals of a row lie in the same place; those that cross the border
// of a cluster are in none.
#include "lss/plan/plan.h"

// ---- Rows ----------------------------------------------------------------------------------------------------------

static bool is_inside(const Wire *wire) {
  for (guint i = 0; i < wire->readers->len; i++)
    if (((Vertex *)wire->readers->pdata[i])->cluster != wire->writer->cluster) return false;
  return true;
}

// What signals of a row have in common; NULL: it is in none.
static char *key_of(const Plan *plan, const Wire *wire) {
  const WirePlan *found = &plan->wires[wire->id];
  if (!wire->writer || wire->flagged || wire->always || !is_inside(wire)) return NULL;
  if (found->place != PLACE_LOCAL && found->place != PLACE_SCRATCH) return NULL;
  const int piece = found->place == PLACE_LOCAL ? plan->piece_of[wire->writer->id] : -1, cluster = found->owner->id;
  if (wire->kind == SIGNAL_LOCAL)
    return g_strdup_printf("%d %d %s %s %s", cluster, piece, wire->instance->module_name, wire->local->name,
                           wire->local->type->c_name);
  const Port *from = wire->connection->from, *to = wire->connection->to;
  return g_strdup_printf("%d %d %d %s %s %s %s %s", cluster, piece, wire->kind, from->instance->module_name, from->name,
                         to->instance->module_name, to->name, wire->connection->type->c_name);
}

void plan_find_rows(Plan *plan) {
  const GPtrArray *wires = plan->schedule->wires;
  g_autoptr(GHashTable) all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  g_autoptr(GPtrArray) order = g_ptr_array_new();
  for (guint i = 0; i < plan->schedule->clusters->len; i++)
    plan->clusters[i].rows = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < wires->len; i++) {
    char *key = key_of(plan, wires->pdata[i]);
    if (!key) continue;
    GPtrArray *row = g_hash_table_lookup(all, key);
    if (row) {
      g_free(key);
    } else {
      g_hash_table_insert(all, key, row = g_ptr_array_new());
      g_ptr_array_add(order, row);
    }
    g_ptr_array_add(row, wires->pdata[i]);
  }
  for (guint i = 0; i < order->len; i++) {
    const GPtrArray *row = order->pdata[i];
    if (row->len < LEAST_ROW) continue;
    GArray *rows = plan->clusters[plan->wires[((Wire *)row->pdata[0])->id].owner->id].rows;
    g_array_append_val(rows, row->len);
    for (guint k = 0; k < row->len; k++) {
      WirePlan *found = &plan->wires[((Wire *)row->pdata[k])->id];
      found->row = rows->len;
      found->element = k;
    }
  }
}

guint plan_row_length(const Plan *plan, const Cluster *cluster, guint row) {
  return g_array_index(plan->clusters[cluster->id].rows, guint, row - 1);
}

// ---- Names ---------------------------------------------------------------------------------------------------------

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

const char *plan_wire_name(const Plan *plan, Cluster *cluster, const Wire *wire, const char *suffix, char *text,
                           gsize size) {
  const WirePlan *found = &plan->wires[wire->id];
  const char letter = "deal"[wire->kind];
  if (found->row)
    g_snprintf(text, size, "w%u_%c%s[%u]", found->row, letter, suffix, found->element);
  else if (wire->kind == SIGNAL_LOCAL)
    g_snprintf(text, size, "l%d_%s_%d%s", plan_leaf_index(cluster, wire->instance), wire->local->name, wire->lane,
               suffix);
  else
    g_snprintf(text, size, "c%d_%c%s", connection_number(cluster, wire->connection), letter, suffix);
  return text;
}
