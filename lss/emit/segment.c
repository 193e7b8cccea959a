// One segment of the schedule as a C function: signals as local variables where nothing else needs them, and for each
// function of the segment a context filled from them, a call, and the results taken out again.
#include "lss/emit/emit.h"

#include <string.h>

// Declares the signals that live and die in these items, a segment's or a piece's.
static void declare_locals(const Emitter *emitter, GString *out, Segment *segment, guint first, guint end) {
  for (guint i = first; i < end; i++) {
    Item *item = segment->items->pdata[i];
    for (guint j = 0; j < item->nodes->len; j++) {
      Vertex *node = item->nodes->pdata[j];
      for (guint k = 0; k < node->writes->len; k++) {
        const Wire *wire = node->writes->pdata[k];
        if (emitter->plan->wires[wire->id].place != PLACE_LOCAL) continue;
        emit_signal(emitter, out, segment->cluster, wire, "",
                    wire->kind == SIGNAL_DATA && plan_left_unset(emitter->plan, wire) ? "" : " = {0}");
        if (wire->kind == SIGNAL_DATA) emit_signal(emitter, out, segment->cluster, wire, "_some", " = false");
        if (wire->flagged) emit_signal(emitter, out, segment->cluster, wire, "_known", " = false");
      }
    }
  }
}

// Whichever list is shorter knows: a wire of many readers, a function that reads many wires.
static bool reads(const Vertex *node, Wire *wire) {
  return wire->readers->len < node->reads->len ? g_ptr_array_find(wire->readers, node, NULL)
                                               : g_ptr_array_find(node->reads, wire, NULL);
}

typedef struct {
  Emitter *emitter;
  GString *out;
  Cluster *cluster;
  const Vertex *node;
  bool flagged, iterated;
  const char *leaf; // its state
} Call;

static void ref(Call *call, const Wire *wire, const char *suffix) {
  emit_reference(call->emitter, call->out, call->cluster, wire, suffix);
}

static void assign_from(Call *call, const char *member, const char *array, int lane, const Wire *wire,
                        const char *suffix, const char *amp) {
  g_string_append_printf(call->out, "    ctx.%s.%s[%d] = %s", member, array, lane, amp);
  ref(call, wire, suffix);
  g_string_append(call->out, ";\n");
}

static void assign_to(Call *call, const char *member, const char *array, int lane, const Wire *wire,
                      const char *suffix) {
  g_string_append(call->out, "    ");
  ref(call, wire, suffix);
  g_string_append_printf(call->out, " = ctx.%s.%s[%d];\n", member, array, lane);
}

// The first signal of a row whose elements are the lanes of a port, one after the other: the context points to the row,
// so that nothing is copied.  NULL: there is none.
static const Wire *row_behind(const Call *call, const Port *port, SignalKind kind, bool written) {
  const Plan *plan = call->emitter->plan;
  const guint lanes = port->lanes->len;
  const Wire *first = lanes < LEAST_ROW || call->flagged ? NULL : schedule_port_wire(plan->schedule, port, kind, 0);
  const guint row = first ? plan->wires[first->id].row : 0;
  if (!row || plan_row_length(plan, call->cluster, row) != lanes) return NULL;
  // What is not written is false only in what the function itself declares.
  if (written && plan->wires[first->id].place != PLACE_LOCAL) return NULL;
  for (guint lane = 0; lane < lanes; lane++) {
    Wire *wire = schedule_port_wire(plan->schedule, port, kind, (int)lane);
    if (!wire || plan->wires[wire->id].row != row || plan->wires[wire->id].element != lane ||
        (written ? wire->writer != call->node : !reads(call->node, wire)))
      return NULL;
  }
  return first;
}

static void point_to_row(Call *call, const char *member, const char *array, const Wire *first, const char *suffix) {
  g_autoptr(GString) name = g_string_new(NULL);
  emit_reference(call->emitter, name, call->cluster, first, suffix);
  g_string_append_printf(call->out, "    ctx.%s.%s = %.*s;\n", member, array, (int)strcspn(name->str, "["), name->str);
}

static void fill_read(Call *call, const Port *port, SignalKind kind, const char *member) {
  GString *out = call->out;
  const bool row = row_behind(call, port, kind, false) != NULL;
  bool pointer = kind == SIGNAL_DATA && plan_read_in_place(call->emitter->plan, port);
  if (port->lanes->len == 0) {
    if (pointer) g_string_append_printf(out, "    ctx.%s.v[0] = &(const %s){0};\n", member, emit_c_type(port->type));
    if (kind == SIGNAL_ACK && port->output) g_string_append_printf(out, "    ctx.%s.v[0] = true;\n", member);
    if (call->flagged) g_string_append_printf(out, "    ctx.%s.known[0] = true;\n", member);
    return;
  }
  for (int lane = 0; lane < (int)port->lanes->len; lane++) {
    Wire *wire = schedule_port_wire(call->emitter->plan->schedule, port, kind, lane);
    if (!wire || (!wire->always && !reads(call->node, wire))) continue;
    if (pointer || !row) assign_from(call, member, "v", lane, wire, "", pointer ? "&" : "");
    if (kind == SIGNAL_DATA && !row) assign_from(call, member, "some", lane, wire, "_some", "");
    if (!call->flagged) continue;
    if (wire->flagged)
      assign_from(call, member, "known", lane, wire, "_known", "");
    else
      g_string_append_printf(out, "    ctx.%s.known[%d] = true;\n", member, lane);
  }
}

// Before the call: where to write, and inside a loop what is known already.
static void prepare_write(Call *call, const Wire *wire, const char *member, int lane, bool pointer, bool data) {
  if (pointer) {
    if (!call->iterated && !plan_left_unset(call->emitter->plan, wire) &&
        call->emitter->plan->wires[wire->id].place != PLACE_LOCAL) {
      g_string_append(call->out, "    ");
      ref(call, wire, "");
      g_string_append_printf(call->out, " = (%s){0};\n", emit_c_type(wire->connection->type));
    }
    assign_from(call, member, "v", lane, wire, "", "&");
  }
  if (!call->iterated) return;
  if (!pointer) assign_from(call, member, "v", lane, wire, "", "");
  if (data) assign_from(call, member, "some", lane, wire, "_some", "");
  assign_from(call, member, "known", lane, wire, "_known", "");
}

// Inside a loop, what is known stays as it is.
static void check_monotone(Call *call, const Wire *wire, const char *member, int lane, bool pointer, bool data,
                           const char *name) {
  GString *out = call->out;
  g_string_append(out, "    if (");
  ref(call, wire, "_known");
  g_string_append(out, " && (");
  if (data) {
    ref(call, wire, "_some");
    g_string_append_printf(out, " != ctx.%s.some[%d]%s", member, lane, pointer ? "" : " || (");
    if (!pointer) g_string_append_printf(out, "ctx.%s.some[%d] && ", member, lane);
  }
  if (!pointer) {
    g_string_append(out, "memcmp(&");
    ref(call, wire, "");
    g_string_append_printf(out, ", &ctx.%s.v[%d], sizeof ctx.%s.v[%d])%s", member, lane, member, lane, data ? ")" : "");
  }
  g_string_append_printf(out, ")) spinach_bad_write(true, s->%s.spinach_id, \"%s\", %d);\n", call->leaf, name, lane);
}

static void take_written(Call *call, const Wire *wire, const char *member, int lane, bool pointer, bool data,
                         const char *name) {
  if (call->iterated) check_monotone(call, wire, member, lane, pointer, data, name);
  if (!pointer) assign_to(call, member, "v", lane, wire, "");
  if (data) assign_to(call, member, "some", lane, wire, "_some");
  if (call->iterated) {
    g_string_append(call->out, "    changed |= ");
    ref(call, wire, "_known");
    g_string_append_printf(call->out, " != ctx.%s.known[%d];\n", member, lane);
    assign_to(call, member, "known", lane, wire, "_known");
  } else if (call->emitter->plan->debug) {
    g_string_append_printf(call->out, "    spinach_check_written(ctx.%s.known[%d], s->%s.spinach_id, \"%s\", %d);\n",
                           member, lane, call->leaf, name, lane);
  }
  if (wire->flagged && !call->iterated) {
    g_string_append(call->out, "    ");
    ref(call, wire, "_known");
    g_string_append(call->out, " = true;\n");
  }
}

static void each_write(Call *call, bool before) {
  static const char *const words[] = {"data", "enable", "ack"};
  const Instance *instance = call->node->instance;
  const Function *function = call->node->function;
  for (guint i = 0; i < instance->ports->len; i++) {
    const Port *port = instance->ports->pdata[i];
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
      if (!plan_writes(instance, function, port, (SignalKind)kind)) continue;
      bool data = kind == SIGNAL_DATA, pointer = data && plan_by_pointer(port->type);
      g_autofree char *member = g_strdup_printf("write_%s_%s", port->c_name, words[kind]);
      g_autofree char *name = g_strdup_printf("%s.%s", port->name, words[kind]);
      if (before && function->partial && call->flagged)
        g_string_append_printf(call->out, "    ctx.%s.partial = true;\n", member);
      if (port->lanes->len == 0 && pointer && before)
        g_string_append_printf(call->out, "    %s nowhere_%s;\n    ctx.%s.v[0] = &nowhere_%s;\n",
                               emit_c_type(port->type), port->c_name, member, port->c_name);
      const bool row = row_behind(call, port, (SignalKind)kind, true) != NULL;
      if (row && !(before && pointer)) continue; // it is written in place
      for (int lane = 0; lane < (int)port->lanes->len; lane++) {
        Wire *wire = schedule_port_wire(call->emitter->plan->schedule, port, (SignalKind)kind, lane);
        if (!wire || wire->writer != call->node) continue;
        if (before)
          prepare_write(call, wire, member, lane, pointer, data);
        else
          take_written(call, wire, member, lane, pointer, data, name);
      }
    }
  }
  for (guint i = 0; i < instance->locals->len; i++) {
    const Local *local = instance->locals->pdata[i];
    if (!plan_writes_local(instance, function, local)) continue;
    g_autofree char *member = g_strdup_printf("write_local_%s", local->name);
    if (before && function->partial && call->flagged)
      g_string_append_printf(call->out, "    ctx.%s.partial = true;\n", member);
    for (int lane = 0; lane < MAX(local->lanes, 1); lane++) {
      Wire *wire =
          schedule_wire(call->emitter->plan->schedule, instance, &(Signal){SIGNAL_LOCAL, NULL, (Local *)local, lane});
      if (!wire || wire->writer != call->node) continue;
      if (before)
        prepare_write(call, wire, member, lane, false, false);
      else
        take_written(call, wire, member, lane, false, false, local->name);
    }
  }
}

static void fill_reads(Call *call) {
  static const char *const words[] = {"data", "enable", "ack"};
  const Instance *instance = call->node->instance;
  const Function *function = call->node->function;
  for (guint i = 0; i < instance->ports->len; i++) {
    const Port *port = instance->ports->pdata[i];
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
      if (!plan_reads(instance, function, port, (SignalKind)kind)) continue;
      g_autofree char *member = g_strdup_printf("read_%s_%s", port->c_name, words[kind]);
      fill_read(call, port, (SignalKind)kind, member);
    }
  }
  for (guint i = 0; i < instance->locals->len; i++) {
    const Local *local = instance->locals->pdata[i];
    if (!plan_reads_local(instance, function, local)) continue;
    g_autofree char *member = g_strdup_printf("read_local_%s", local->name);
    for (int lane = 0; lane < MAX(local->lanes, 1); lane++) {
      Wire *wire =
          schedule_wire(call->emitter->plan->schedule, instance, &(Signal){SIGNAL_LOCAL, NULL, (Local *)local, lane});
      if (!wire || !reads(call->node, wire)) continue;
      assign_from(call, member, "v", lane, wire, "", "");
      if (!call->flagged) continue;
      if (wire->flagged)
        assign_from(call, member, "known", lane, wire, "_known", "");
      else
        g_string_append_printf(call->out, "    ctx.%s.known[%d] = true;\n", member, lane);
    }
  }
}

static void declare_lanes(Call *call, const char *member, const char *type, const char *array, int lanes) {
  g_string_append_printf(call->out, "    %s %s_%s[%d] = {0};\n    ctx.%s.%s = %s_%s;\n", type, member, array, lanes,
                         member, array, member, array);
}

// The arrays that one member of the context points to, or the row (NULL: none).
static void declare_member(Call *call, const char *access, const char *name, const char *word, const Type *type,
                           bool address, int lanes, const Wire *row) {
  if (!plan_lanes_apart(lanes)) return;
  g_autofree char *member = g_strdup_printf("%s_%s%s%s", access, name, *word ? "_" : "", word);
  g_autofree char *element = g_strdup_printf("%s%s%s", address && access[0] == 'r' ? "const " : "",
                                             type ? emit_c_type(type) : "bool", address ? " *" : "");
  if (row && !address)
    point_to_row(call, member, "v", row, "");
  else
    declare_lanes(call, member, element, "v", lanes);
  if (*word && type && row)
    point_to_row(call, member, "some", row, "_some");
  else if (*word && type)
    declare_lanes(call, member, "bool", "some", lanes);
  if (call->flagged) declare_lanes(call, member, "bool", "known", lanes);
}

static void declare_context(Call *call, int spec, const char *name) {
  static const char *const words[] = {"data", "enable", "ack"};
  const Instance *instance = call->node->instance;
  const Function *function = call->node->function;
  g_string_append_printf(call->out, "  {\n    @K@_S%d_ctx_%s ctx = {0};\n", spec, name);
  for (guint i = 0; i < instance->ports->len; i++) {
    const Port *port = instance->ports->pdata[i];
    for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
      const Type *type = kind == SIGNAL_DATA ? port->type : NULL;
      if (plan_reads(instance, function, port, (SignalKind)kind))
        declare_member(call, "read", port->c_name, words[kind], type,
                       type && plan_read_in_place(call->emitter->plan, port), (int)port->lanes->len,
                       row_behind(call, port, (SignalKind)kind, false));
      if (plan_writes(instance, function, port, (SignalKind)kind))
        declare_member(call, "write", port->c_name, words[kind], type, type && plan_by_pointer(type),
                       (int)port->lanes->len, row_behind(call, port, (SignalKind)kind, true));
    }
  }
  for (guint i = 0; i < instance->locals->len; i++) {
    const Local *local = instance->locals->pdata[i];
    if (plan_reads_local(instance, function, local))
      declare_member(call, "read_local", local->name, "", local->type, false, local->lanes, NULL);
    if (plan_writes_local(instance, function, local))
      declare_member(call, "write_local", local->name, "", local->type, false, local->lanes, NULL);
  }
}

static void emit_probe(Emitter *emitter, GString *out, Cluster *cluster, const Vertex *node) {
  const int index = emitter->plan->schedule->probe_index[node->connection->id];
  const Port *to = node->connection->to;
  const int lane = node->connection->to_lane;
  const char *const names[] = {"some", "enable", "ack"};
  g_string_append(out, "  {\n");
  for (int kind = SIGNAL_DATA; kind <= SIGNAL_ACK; kind++) {
    g_string_append_printf(out, "    const bool %s_ = ", names[kind]);
    emit_reference(emitter, out, cluster, schedule_port_wire(emitter->plan->schedule, to, (SignalKind)kind, lane),
                   kind == SIGNAL_DATA ? "_some" : "");
    g_string_append(out, ";\n");
  }
  g_string_append_printf(out, "    @K@_observe_%d(&s->probe%d, ", index, index);
  if (emit_recorded_kinds(emitter, node->connection)) {
    g_string_append(out, "&");
    emit_reference(emitter, out, cluster, schedule_port_wire(emitter->plan->schedule, to, SIGNAL_DATA, lane), "");
  } else {
    g_string_append(out, "NULL");
  }
  g_string_append(out, ", some_, enable_, ack_);\n  }\n");
}

static void emit_whole_call(Emitter *emitter, GString *out, Kind *kind, Cluster *cluster, const Vertex *node,
                            bool iterated) {
  if (node->kind == VERTEX_PROBE) {
    emit_probe(emitter, out, cluster, node);
    return;
  }
  if (plan_shows(emitter->plan, node)) return;
  const Function *function = node->function;
  const char *leaf = emit_leaf(emitter, node->instance);
  const int spec = kind->spec_of[plan_leaf_index(cluster, node->instance)];
  Call call = {emitter, out, cluster, node, plan_flagged(emitter->plan, node->instance), iterated, leaf};
  g_autoptr(GString) name = g_string_new(NULL);
  emit_function_name(name, function);
  declare_context(&call, spec, name->str);
  fill_reads(&call);
  each_write(&call, true);
  if (emitter->plan->debug)
    g_string_append_printf(out, "    spinach_running = (struct spinach_running){s->%s.spinach_id, \"%s\"};\n", leaf,
                           name->str);
  g_string_append_printf(out, "    @K@_S%d_%s(&s->%s, &ctx", spec, name->str, leaf);
  if (function->indexed) g_string_append_printf(out, ", %d", function->lane);
  g_string_append(out, ");\n");
  each_write(&call, false);
  g_string_append(out, "  }\n");
}

static bool is_wide(const Instance *leaf) {
  for (guint i = 0; i < leaf->ports->len; i++)
    if (((Port *)leaf->ports->pdata[i])->lanes->len >= LEAST_ROW) return true;
  return false;
}

static void emit_call(Emitter *emitter, GString *out, Kind *kind, Cluster *cluster, const Vertex *node, bool iterated) {
  g_autoptr(GString) lines = g_string_new(NULL);
  const bool rolls = kind->rolls && is_wide(node->instance);
  emit_whole_call(emitter, rolls ? lines : out, kind, cluster, node, iterated);
  if (rolls) emit_rolled_lines(out, lines->str);
}

static void emit_loop(Emitter *emitter, GString *out, Kind *kind, Segment *segment, Item *item) {
  for (guint i = 0; i < item->nodes->len; i++) {
    const Vertex *node = item->nodes->pdata[i];
    for (guint j = 0; j < node->writes->len; j++) {
      const Wire *wire = node->writes->pdata[j];
      g_string_append(out, "  ");
      emit_reference(emitter, out, segment->cluster, wire, "_known");
      g_string_append(out, " = false;\n");
      if (wire->kind == SIGNAL_DATA) {
        g_string_append(out, "  ");
        emit_reference(emitter, out, segment->cluster, wire, "_some");
        g_string_append(out, " = false;\n");
      }
    }
  }
  g_string_append(out, "  for (bool changed = true; changed;) {\n  changed = false;\n");
  for (guint i = 0; i < item->nodes->len; i++)
    emit_call(emitter, out, kind, segment->cluster, item->nodes->pdata[i], true);
  g_string_append(out, "  }\n");
  for (guint i = 0; i < item->nodes->len; i++) {
    const Vertex *node = item->nodes->pdata[i];
    for (guint j = 0; j < node->writes->len; j++) {
      const Wire *wire = node->writes->pdata[j];
      g_autofree char *name = wire_name(wire);
      const char *tail = name + strlen(node->instance->path);
      g_string_append(out, "  if (!");
      emit_reference(emitter, out, segment->cluster, wire, "_known");
      g_string_append_printf(out, ") spinach_unknown(s->%s.spinach_id, \"%s\");\n", emit_leaf(emitter, node->instance),
                             *tail == '.' ? tail + 1 : tail);
    }
  }
}

// The specialize local that is known when an item has run.
static const Wire *specialized_local(const Item *item) {
  const Vertex *node = item->nodes->pdata[0];
  for (guint i = 0; !item->iterated && i < node->writes->len; i++) {
    const Wire *wire = node->writes->pdata[i];
    if (wire->kind == SIGNAL_LOCAL && wire->local->specialize) return wire;
  }
  return NULL;
}

// Items of a segment up to before `end`: all of it, or a piece of it.
typedef struct {
  Segment *segment;
  guint end;
  GString *notes;    // of what they transfer
  guint noted_after; // this item
} Piece;

// The items from one on, to the end of the piece.  What follows a specialize local is there twice, in the two arms of a
// branch on it, so that clang knows it in each; so many of them may still make branches.
static void emit_items(Emitter *emitter, GString *out, Kind *kind, const Piece *piece, guint first, int decisions) {
  g_autoptr(GPtrArray) calls = emit_rolled_new();
  g_autoptr(GString) call = g_string_new(NULL);
  for (guint i = first; i < piece->end; i++) {
    Item *item = piece->segment->items->pdata[i];
    const Wire *wire = decisions > 0 ? specialized_local(item) : NULL;
    if (item->iterated)
      emit_loop(emitter, call, kind, piece->segment, item);
    else
      emit_call(emitter, call, kind, piece->segment->cluster, item->nodes->pdata[0], false);
    emit_rolled_add(calls, call);
    const bool last = i + 1 == piece->end, noted = i == piece->noted_after;
    if (!wire && !noted && !last && kind->rolls) continue;
    emit_rolled(out, kind, calls);
    if (noted) g_string_append(out, piece->notes->str);
    if (!wire) continue;
    g_string_append(out, "  if (");
    emit_reference(emitter, out, piece->segment->cluster, wire, "");
    g_string_append(out, ") {\n");
    emit_items(emitter, out, kind, piece, i + 1, decisions - 1);
    g_string_append(out, "  } else {\n");
    emit_items(emitter, out, kind, piece, i + 1, decisions - 1);
    g_string_append(out, "  }\n");
    return;
  }
}

// The body of a function for items of a segment.
static void emit_piece(Emitter *emitter, GString *out, Kind *kind, Segment *segment, guint first, guint end,
                       bool often) {
  g_autoptr(GString) notes = g_string_new(NULL);
  const Piece piece = {segment, end, notes, emit_transfers(emitter, notes, segment, first, end)};
  declare_locals(emitter, out, segment, first, end);
  emit_items(emitter, out, kind, &piece, first, often && !emitter->plan->debug ? DECISIONS : 0);
}

enum { PIECES_OF_UNIT = 10 };

// The text that a piece goes to, by its number in the cluster.
static GString *piece_unit(Kind *kind, guint piece) {
  if (!kind->parts) kind->parts = g_ptr_array_new();
  if (piece % PIECES_OF_UNIT == 0) g_ptr_array_add(kind->parts, g_string_new(NULL));
  return kind->parts->pdata[kind->parts->len - 1];
}

// The pieces of a large segment, of which it consists of calls: in further units, or in this one when it runs seldom.
static void emit_pieces(Emitter *emitter, GString *out, Kind *kind, Segment *segment, const char *name, bool often,
                        GString *calls) {
  guint number = 0;
  for (guint first = 0, end; first < segment->items->len; first = end, number++) {
    end = plan_piece_end(emitter->plan, segment, first);
    GString *unit = often && !emitter->plan->check_only ? piece_unit(kind, number) : out;
    g_autofree char *head =
        g_strdup_printf("void @K@_%s%d_%u(@K@_state s[static restrict 1], @K@_scratch x[static restrict 1])", name,
                        segment->index, number);
    if (unit != out) g_string_append_printf(out, "%s;\n", head);
    g_string_append_printf(unit, "%s%s {\n", unit == out ? "static " : "", head);
    emit_piece(emitter, unit, kind, segment, first, end, often);
    g_string_append(unit, "}\n");
    g_string_append_printf(calls, "  @K@_%s%d_%u(s, x);\n", name, segment->index, number);
  }
}

void emit_segment(Emitter *emitter, GString *out, Kind *kind, Segment *segment, const char *name, bool often) {
  const bool root = !segment->cluster->instance, pieces = plan_in_pieces(emitter->plan, segment);
  g_autoptr(GString) calls = g_string_new(NULL);
  if (pieces) emit_pieces(emitter, out, kind, segment, name, often, calls);
  g_string_append_printf(
      out, "%sSPINACH_STEP void @K@_%s%d(@K@_state s[static restrict 1], @K@_scratch x[static restrict 1]) {\n",
      root && often ? "static inline " : "", name, segment->index);
  if (!pieces) emit_piece(emitter, out, kind, segment, 0, segment->items->len, often);
  g_string_append_printf(out, "%s}\n", calls->str);
}
