// Sleeping clusters (lss/plan/sleep.c) in C: what is looked at before a segment of one and after its cycle.
//
// A cycle of the cluster is watched now and then: what its segments transfer is noted.  When nothing was, nothing comes
// from outside, and no instance acts in the next cycle, it sleeps from there on.
//
// Before each segment of a sleeping cluster the signals that the segment reads from outside are looked at; an item,
// another number or another acknowledgment wakes it.  Others have read by then what the segments before it would have
// computed: that is in the scratch already.
#include "lss/emit/emit.h"

// Whether it is a number that is shown in every cycle: it is compared, since it would keep all its readers awake.  Of
// items, the same one may come again.
static bool is_level(const Emitter *emitter, const Wire *wire) {
  if (wire->kind != SIGNAL_DATA || !emit_is_shown(emitter, wire->connection)) return false;
  switch (wire->connection->type->kind) {
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_UINT:
  case TYPE_BITS:
  case TYPE_PACKED:
  case TYPE_ENUM: return true;
  default: return false;
  }
}

// What is compared with its value in the cycle before the cluster fell asleep.
static bool kept(const Emitter *emitter, const Wire *wire, const Cluster *cluster) {
  return wire->writer->cluster != cluster && (wire->kind == SIGNAL_ACK || is_level(emitter, wire));
}

void emit_gate_variables(const Emitter *emitter, GString *out, Cluster *cluster) {
  const GPtrArray *wires = plan_of(emitter->plan, cluster)->border;
  g_string_append_printf(out, "static spinach_gate spinach_gate_%d = SPINACH_GATE;\nstatic struct {\n", cluster->id);
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (!kept(emitter, wire, cluster)) continue;
    if (wire->kind == SIGNAL_DATA)
      g_string_append_printf(out, "  %s d%d;\n", emit_c_type(wire->connection->type), wire->id);
    g_string_append_printf(out, "  bool w%d;\n", wire->id);
  }
  g_string_append_printf(out, "} spinach_kept_%d;\n", cluster->id);
}

// "a_some | (b_some != kept) | (b_some & (b != kept)) | (c != kept)": true when something comes in that is not what it
// was.
static void comes_in(const Emitter *emitter, GString *out, const Cluster *cluster, const GPtrArray *wires) {
  const char *join = "";
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    const bool data = wire->kind == SIGNAL_DATA;
    if (wire->writer->cluster == cluster || (!data && !kept(emitter, wire, cluster))) continue;
    g_autoptr(GString) flag = g_string_new(NULL), value = g_string_new(NULL);
    emit_border_reference(emitter, flag, wire, data ? "_some" : "");
    emit_border_reference(emitter, value, wire, "");
    g_string_append(out, join);
    if (!kept(emitter, wire, cluster))
      g_string_append(out, flag->str);
    else
      g_string_append_printf(out, "(%s != spinach_kept_%d.w%d)", flag->str, cluster->id, wire->id);
    if (data && kept(emitter, wire, cluster))
      g_string_append_printf(out, " | (%s & (%s != spinach_kept_%d.d%d))", flag->str, value->str, cluster->id,
                             wire->id);
    join = " | ";
  }
  if (!*join) g_string_append(out, "0");
}

// Whether something comes that is never compared, or a level was accepted that need not be accepted again.
static void comes_or_was_taken(const Emitter *emitter, GString *out, const Cluster *cluster, const GPtrArray *wires) {
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (wire->kind != SIGNAL_DATA || wire->writer->cluster == cluster) continue;
    if (kept(emitter, wire, cluster)) {
      emit_arrival(emitter, out, wire->connection);
      continue;
    }
    g_string_append(out, " | ");
    emit_border_reference(emitter, out, wire, "_some");
  }
}

// Woken on the way, it does what it has left out of the cycle: what was there for one cycle when it fell asleep is
// gone. It has not been watched in this cycle.
static void emit_late_start(const Emitter *emitter, GString *out, const Segment *segment) {
  const int id = segment->cluster->id;
  for (int before = 0; before < segment->index; before++)
    g_string_append_printf(out, "      %s_seg%d(spinach_cluster_state[%d], &spinach_scratch_%d);\n",
                           emitter->kind_of[id]->name, before, id, id);
  g_string_append_printf(out, "      spinach_scratch_%d.watches = spinach_scratch_%d.moved = true;\n    }\n", id, id);
}

void emit_gate_open(const Emitter *emitter, GString *out, const Segment *segment, bool first) {
  int id = segment->cluster->id;
  const GPtrArray *wires = plan_of_segment(emitter->plan, segment)->reads;
  g_string_append_printf(out,
                         "  if (__builtin_expect(spinach_time.cycle < spinach_gate_%d.due, 1) || "
                         "!spinach_gate_%d.asleep || spinach_time.cycle >= spinach_gate_%d.wake || (",
                         id, id, id);
  comes_in(emitter, out, segment->cluster, wires);
  g_string_append_printf(out,
                         ")) {\n"
                         "  if (__builtin_expect(spinach_time.cycle >= spinach_gate_%d.due, 0)) {\n"
                         "    if (spinach_gate_%d.asleep) {\n      spinach_gate_wake(&spinach_gate_%d);\n",
                         id, id, id);
  if (first)
    g_string_append_printf(out, "    }\n    spinach_scratch_%d.watches = true, spinach_scratch_%d.moved = false;\n", id,
                           id);
  else
    emit_late_start(emitter, out, segment);
  g_string_append(out, "  }\n");
}

// What the cluster sends across its border and its neighbours take.
static void goes_out(const Emitter *emitter, GString *out, const Cluster *cluster) {
  const Plan *plan = emitter->plan;
  for (guint i = 0; i < plan->netlist->connections->len; i++) {
    const Connection *connection = plan->netlist->connections->pdata[i];
    if (plan->schedule->cluster_of[connection->from->instance->id] == cluster &&
        plan->schedule->cluster_of[connection->to->instance->id] != cluster)
      emit_departure(emitter, out, connection);
  }
}

void emit_gate_close(const Emitter *emitter, GString *out, const Segment *segment) {
  const Cluster *cluster = segment->cluster;
  int id = cluster->id;
  g_string_append_printf(out,
                         "  } else if (__builtin_expect(spinach_replay_checks, 0)) {\n"
                         "    spinach_check_asleep(&spinach_replayed_%d, %d, spinach_gate_%d.since);\n  }\n",
                         id, segment->index, id);
  // It sleeps on one clock; its segments are numbered as they run.
  if (segment->index + 1 < (int)cluster->segments->len) return; // its cycle is not over yet
  const GPtrArray *wires = plan_of(emitter->plan, cluster)->border;
  g_autofree char *replaying =
      !plan_of(emitter->plan, cluster)->obstacle ? g_strdup_printf("!spinach_replay_%d.at && ", id) : g_strdup("");
  g_string_append_printf(out,
                         "  if (__builtin_expect(spinach_scratch_%d.watches, 0)) {\n"
                         "  spinach_scratch_%d.watches = false;\n"
                         "  if (%s(!(spinach_scratch_%d.moved",
                         id, id, replaying, id);
  comes_or_was_taken(emitter, out, cluster, wires);
  goes_out(emitter, out, cluster);
  g_string_append_printf(out,
                         ") || spinach_gate_missed(&spinach_gate_%d)) &&\n      "
                         "%s_rests(&spinach_gate_%d, spinach_cluster_state[%d]) && "
                         "spinach_gate_sleep(&spinach_gate_%d, %s_first_event(spinach_cluster_state[%d], %s))) {\n",
                         id, emitter->kind_of[id]->name, id, id, id, emitter->kind_of[id]->name, id,
                         segment->clock->rounded ? "spinach_cycle_length" : "spinach_time.period");
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (!kept(emitter, wire, cluster)) continue;
    const bool data = wire->kind == SIGNAL_DATA;
    g_string_append_printf(out, "    spinach_kept_%d.w%d = ", id, wire->id);
    emit_border_reference(emitter, out, wire, data ? "_some" : "");
    g_string_append(out, ";\n");
    if (!data) continue;
    g_string_append_printf(out, "    spinach_kept_%d.d%d = ", id, wire->id);
    emit_border_reference(emitter, out, wire, "");
    g_string_append(out, ";\n");
  }
  g_string_append(out, "  }\n  }\n");
}

// Whether the last cycle left the states as they were that say no more, or that count cycles which are left out.
static void emit_rests(const Emitter *emitter, GString *out, const Kind *kind) {
  const GPtrArray *leaves = kind->cluster->leaves;
  g_autoptr(GString) stays = g_string_new(NULL);
  g_autoptr(GPtrArray) pieces = emit_rolled_new();
  for (guint i = 0; i < leaves->len; i++) {
    const LeafPlan *leaf = &emitter->plan->leaves[((Instance *)leaves->pdata[i])->id];
    if (leaf->compared || leaf->counts)
      g_ptr_array_add(pieces, g_strdup_printf("  stays &= spinach_stays(&k->%s, &s->%s, sizeof s->%s);\n",
                                              kind->names[i], kind->names[i], kind->names[i]));
  }
  emit_rolled(stays, kind, pieces);
  g_string_append(out, "bool @K@_rests(spinach_gate *gate, const void *state) {\n");
  if (stays->len)
    g_string_append_printf(out,
                           "  const bool kept = spinach_gate_keeps(gate, sizeof(@K@_state));\n"
                           "  const @K@_state *s = state;\n  @K@_state *k = gate->copy;\n  bool stays = true;\n"
                           "  if (!k) return false;\n%s"
                           "  return kept && (stays || spinach_gate_missed(gate));\n}\n",
                           stays->str);
  else
    g_string_append(out, "  (void)gate, (void)state;\n  return true;\n}\n");
}

void emit_gate_functions(const Emitter *emitter, GString *out, const Kind *kind) {
  emit_rests(emitter, out, kind);
  g_string_append(out, "uint64_t @K@_first_event(const @K@_state *s, uint64_t length) {\n"
                       "  spinach_time.cycle++, spinach_time.now += length;\n"
                       "  const uint64_t first = @K@_next_event0(s);\n"
                       "  spinach_time.cycle--, spinach_time.now -= length;\n  return first;\n}\n");
}

void emit_sleeping_table(const Emitter *emitter, GString *out) {
  g_string_append(out, "const spinach_sleeping spinach_sleepings[] = {\n");
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->plan->schedule->clusters->pdata[i];
    if (!cluster->instance || !plan_of(emitter->plan, cluster)->sleeps) continue;
    const GPtrArray *clocks = plan_of(emitter->plan, cluster)->clocks;
    g_string_append_printf(out, "  {&spinach_gate_%u, %u, %d},\n", i, i, ((Clock *)clocks->pdata[0])->id);
  }
  g_string_append(out, "  {0}\n};\n");
}
