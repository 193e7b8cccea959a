// Whether a cycle did anything, for the question if the next ones may be left out: what was transferred is offered no
// more, so a cycle after one that transferred something need not be like it, nor one after another that changed a
// state.
//
// Every item begins at a module that offers it without another item at hand, and what is between passes it on; so only
// those connections are looked at, once all of them are known, and only while cycles are being left out.
// What a handler sends from the state in every cycle stays there, and its module says when it changes; whether it is
// accepted again is asked, unless nobody's state decides that.  What is always accepted is shown or sent for one cycle;
// the next_event of its receiver says what comes of it.  Only where it leaves a cluster that would fall asleep, its end
// must be seen, even if it is refused where it is passed on to: the signals of such a cluster stay as they are.
#include "lss/emit/emit.h"

#include <string.h>

static const Wire *wire_of(const Emitter *emitter, const Connection *connection, SignalKind kind) {
  return schedule_port_wire(emitter->plan->schedule, connection->to, kind, connection->to_lane);
}

static bool is_handshake(const Emitter *emitter, const Connection *connection) {
  const Wire *ack = wire_of(emitter, connection, SIGNAL_ACK);
  return ack && !ack->always;
}

// Whether a function looks at an item that may be refused, itself or through locals.
static bool sees_item(const Emitter *emitter, const Vertex *writer, int depth) {
  for (guint i = 0; i < writer->reads->len; i++) {
    const Wire *wire = writer->reads->pdata[i];
    if (wire->kind == SIGNAL_DATA && is_handshake(emitter, wire->connection)) return true;
    if (wire->kind == SIGNAL_LOCAL && depth > 0 && wire->writer && sees_item(emitter, wire->writer, depth - 1))
      return true;
  }
  return false;
}

static const ModuleSource *source_of(const Emitter *emitter, const Vertex *writer) {
  if (!writer || writer->kind != VERTEX_FUNCTION) return NULL;
  return g_hash_table_lookup(emitter->plan->sources, writer->instance->leaf->c_file);
}

bool emit_is_shown(const Emitter *emitter, const Connection *connection) {
  const Wire *data = wire_of(emitter, connection, SIGNAL_DATA);
  const ModuleSource *source = data ? source_of(emitter, data->writer) : NULL;
  return source && module_source_always_sends(source, connection->from->c_name);
}

// Whether a handler does nothing but send it from the state in every cycle: a transfer takes nothing away, and its
// module says when it changes.
static bool stays_after_transfer(const Emitter *emitter, const Connection *connection, const Vertex *writer) {
  const ModuleSource *source = source_of(emitter, writer);
  if (!source || writer->function->kind != FUNCTION_HANDLER || writer->reads->len > 0) return false;
  const Hook *hook = module_source_hook(source, "handler", writer->function->name);
  return hook && hook->sent_port && !strcmp(hook->sent_port, connection->from->c_name);
}

// Whether a signal is worked out from what is shown in every cycle alone.  No transfer changes that, and who shows it
// says when it changes.
static bool is_steady(const Emitter *emitter, const Wire *wire) {
  if (wire->always) return true;
  const Vertex *writer = wire->writer;
  const ModuleSource *source = source_of(emitter, writer);
  if (!source) return false;
  if (wire->kind == SIGNAL_DATA && stays_after_transfer(emitter, wire->connection, writer)) return true;
  const Instance *instance = writer->instance;
  if (instance->state->len > 0 || source->timed || emitter->plan->leaves[instance->id].timed_by_user) return false;
  for (guint i = 0; i < writer->reads->len; i++)
    if (!is_steady(emitter, writer->reads->pdata[i])) return false;
  return true;
}

enum { MOST_LOCALS = 8 }; // one after the other

static bool begins(const Emitter *emitter, const Connection *connection) {
  const Wire *data = wire_of(emitter, connection, SIGNAL_DATA);
  if (!data || !data->writer || !is_handshake(emitter, connection)) return false;
  if (sees_item(emitter, data->writer, MOST_LOCALS)) return false;
  return !(stays_after_transfer(emitter, connection, data->writer) &&
           is_steady(emitter, wire_of(emitter, connection, SIGNAL_ACK)));
}

static int piece_of(const Emitter *emitter, const Wire *wire) {
  return emitter->plan->piece_of[wire->writer->id];
}

// Whether code at the end of a piece can see the wire; what is not seen is taken to be true.
static bool is_seen(const Emitter *emitter, const Wire *wire, int piece) {
  return wire && wire->writer && !wire->always &&
         (emitter->plan->wires[wire->id].place != PLACE_LOCAL || piece_of(emitter, wire) == piece);
}

// The piece at whose end all that is known of a connection inside a cluster can be seen.
static int last_piece(const Emitter *emitter, const Connection *connection) {
  const Wire *data = wire_of(emitter, connection, SIGNAL_DATA);
  int last = piece_of(emitter, data);
  if (emitter->plan->wires[data->id].place == PLACE_LOCAL) return last;
  for (int kind = SIGNAL_ENABLE; kind <= SIGNAL_ACK; kind++) {
    const Wire *wire = wire_of(emitter, connection, (SignalKind)kind);
    if (wire && wire->writer && !wire->always) last = MAX(last, piece_of(emitter, wire));
  }
  return last;
}

static bool is_inside(const Emitter *emitter, const Connection *connection, const Cluster *cluster) {
  Cluster **cluster_of = emitter->plan->schedule->cluster_of;
  return cluster_of[connection->from->instance->id] == cluster && cluster_of[connection->to->instance->id] == cluster;
}

// " | (c12_d_some & c12_a)", up to a kind of signal.  Across a border it is the root that looks, after all clusters.
static void emit_signals(const Emitter *emitter, GString *out, Cluster *cluster, const Connection *connection,
                         int piece, SignalKind last) {
  g_string_append(out, " | (");
  for (int kind = SIGNAL_DATA; kind <= (int)last; kind++) {
    const Wire *wire = wire_of(emitter, connection, (SignalKind)kind);
    if (!is_seen(emitter, wire, piece)) continue;
    if (kind != SIGNAL_DATA) g_string_append(out, " & ");
    if (cluster)
      emit_reference(emitter, out, cluster, wire, kind == SIGNAL_DATA ? "_some" : "");
    else
      emit_border_reference(emitter, out, wire, kind == SIGNAL_DATA ? "_some" : "");
  }
  g_string_append(out, ")");
}

static void emit_transfer(const Emitter *emitter, GString *out, Cluster *cluster, const Connection *connection,
                          int piece) {
  emit_signals(emitter, out, cluster, connection, piece, SIGNAL_ACK);
}

bool emit_notes_transfers(const Emitter *emitter, const Cluster *cluster) {
  return emitter->plan->leaps || plan_of(emitter->plan, cluster)->sleeps;
}

// The last item from `first` to before `end` that writes one of the wires.
static guint known_after(const Segment *segment, guint first, guint end, GHashTable *wires) {
  for (guint i = end - 1; i > first; i--) {
    const Item *item = segment->items->pdata[i];
    for (guint j = 0; j < item->nodes->len; j++) {
      const Vertex *node = item->nodes->pdata[j];
      for (guint k = 0; k < node->writes->len; k++)
        if (g_hash_table_contains(wires, node->writes->pdata[k])) return i;
    }
  }
  return first;
}

static bool is_found_passing(const Emitter *emitter, const Connection *connection, GHashTable *seen);

// Whether a function looks at such an item.
static bool passes_on(const Emitter *emitter, const Vertex *writer, int depth, GHashTable *seen) {
  for (guint i = 0; i < writer->reads->len; i++) {
    const Wire *wire = writer->reads->pdata[i];
    if (wire->kind == SIGNAL_DATA && is_found_passing(emitter, wire->connection, seen)) return true;
    if (wire->kind == SIGNAL_LOCAL && wire->writer && (!depth || passes_on(emitter, wire->writer, depth - 1, seen)))
      return true;
  }
  return false;
}

// `seen`: the signals that were looked at, each once.
static bool is_found_passing(const Emitter *emitter, const Connection *connection, GHashTable *seen) {
  Wire *data = schedule_port_wire(emitter->plan->schedule, connection->to, SIGNAL_DATA, connection->to_lane);
  if (!data || !data->writer || emit_is_shown(emitter, connection) || is_steady(emitter, data)) return false;
  if (!is_handshake(emitter, connection)) return true;
  return g_hash_table_add(seen, data) && passes_on(emitter, data->writer, MOST_LOCALS, seen);
}

// Whether an item may be there for one cycle only, accepted or not: it is always accepted, and neither shown in every
// cycle nor worked out from what is, or it may be worked out from such an item.
static bool is_passing(const Emitter *emitter, const Connection *connection) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  return is_found_passing(emitter, connection, seen);
}

guint emit_transfers(const Emitter *emitter, GString *out, const Segment *segment, guint first, guint end) {
  const Plan *plan = emitter->plan;
  if (first == end || !emit_notes_transfers(emitter, segment->cluster)) return end;
  const Item *item = segment->items->pdata[first];
  const int piece = plan->piece_of[((Vertex *)item->nodes->pdata[0])->id];
  const Kind *kind = emitter->kind_of[segment->cluster->id];
  g_autoptr(GString) transfers = g_string_new(NULL), term = g_string_new(NULL);
  g_autoptr(GPtrArray) terms = emit_rolled_new();
  g_autoptr(GHashTable) wires = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < plan->netlist->connections->len; i++) {
    const Connection *connection = plan->netlist->connections->pdata[i];
    if (!is_inside(emitter, connection, segment->cluster) || !begins(emitter, connection) ||
        last_piece(emitter, connection) != piece)
      continue;
    g_string_append(term, kind->rolls ? "    moved_ = moved_" : "");
    emit_transfer(emitter, term, segment->cluster, connection, piece);
    g_string_append(term, kind->rolls ? ";\n" : "");
    emit_rolled_add(terms, term);
    for (int word = SIGNAL_DATA; word <= SIGNAL_ACK; word++)
      g_hash_table_add(wires, (gpointer)wire_of(emitter, connection, (SignalKind)word));
  }
  if (!terms->len) return end;
  emit_rolled(transfers, kind, terms);
  const char *sum = kind->rolls ? " | moved_" : transfers->str;
  const bool inner = segment->cluster->instance != NULL;
  g_string_append_printf(out, "  if (__builtin_expect(%s, 0))", inner ? "x->watches" : "spinach_leaping.watches");
  if (kind->rolls) g_string_append_printf(out, " {\n    bool moved_ = false;\n%s", transfers->str);
  if (inner)
    g_string_append_printf(out, " x->moved |= 0%s;\n", sum);
  else
    g_string_append_printf(out, "\n    spinach_leaping.moved |= (uint64_t)(0%s) << %d;\n", sum, segment->clock->id);
  if (kind->rolls) g_string_append(out, "  }\n");
  return known_after(segment, first, end, wires);
}

void emit_crossing(const Emitter *emitter, GString *out, const Connection *connection) {
  if (begins(emitter, connection) && is_seen(emitter, wire_of(emitter, connection, SIGNAL_DATA), -1))
    emit_transfer(emitter, out, NULL, connection, -1);
}

void emit_arrival(const Emitter *emitter, GString *out, const Connection *connection) {
  if (is_handshake(emitter, connection) && !is_steady(emitter, wire_of(emitter, connection, SIGNAL_ACK)))
    emit_transfer(emitter, out, NULL, connection, -1);
}

void emit_departure(const Emitter *emitter, GString *out, const Connection *connection) {
  if (!is_passing(emitter, connection))
    emit_crossing(emitter, out, connection);
  else if (is_seen(emitter, wire_of(emitter, connection, SIGNAL_DATA), -1))
    emit_signals(emitter, out, NULL, connection, -1, SIGNAL_DATA);
}

// What crosses the border of a cluster, and what the cycle left of the states that are compared.
void emit_end_of_cycle(const Emitter *emitter, GString *out, const Clock *clock) {
  const Plan *plan = emitter->plan;
  if (!plan->leaps) return;
  g_autoptr(GString) transfers = g_string_new(NULL), stays = g_string_new(NULL);
  for (guint i = 0; i < plan->netlist->connections->len; i++) {
    const Connection *connection = plan->netlist->connections->pdata[i];
    Cluster *cluster = plan->schedule->cluster_of[connection->from->instance->id];
    if (connection->from->clock == clock && !is_inside(emitter, connection, cluster))
      emit_crossing(emitter, transfers, connection);
  }
  for (guint i = 0; i < plan->schedule->clusters->len; i++) {
    const Cluster *cluster = plan->schedule->clusters->pdata[i];
    guint place;
    if (cluster->instance && g_ptr_array_find(plan_of(plan, cluster)->clocks, clock, NULL))
      g_string_append_printf(transfers, " | spinach_scratch_%u.moved", i);
    if (!emit_is_compared(emitter, cluster, clock) || !g_ptr_array_find(plan_of(plan, cluster)->clocks, clock, &place))
      continue;
    g_string_append_printf(stays,
                           " & %s_stays%u(spinach_leap_copy(spinach_cluster_state[%u]), spinach_cluster_state[%u])",
                           cluster->instance ? emitter->kind_of[cluster->id]->name : "@K@", place, i, i);
  }
  if (!transfers->len && !stays->len) return;
  g_string_append(out, "  if (__builtin_expect(spinach_leaping.watches, 0)) {\n");
  if (transfers->len)
    g_string_append_printf(out, "    spinach_leaping.moved |= (uint64_t)(0%s) << %d;\n", transfers->str, clock->id);
  if (stays->len)
    g_string_append_printf(out,
                           "    if (spinach_leaping.moved >> %d & 1) spinach_leaping.kept &= ~(UINT64_C(1) << %d);\n"
                           "    else spinach_leap_kept(%d, 1%s);\n",
                           clock->id, clock->id, clock->id, stays->str);
  g_string_append(out, "  }\n");
}
