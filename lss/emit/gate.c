// Sleeping clusters: one whose last cycle left its state as it was, and to which nothing comes over the border but the
// numbers that came in that cycle, would only repeat it.  It is not stepped, and the signals that it drives stay in its
// scratch: a processor that waits for its memory costs a comparison.
//
// Whether a cycle changes anything is tried now and then, by comparing the state before and after it
// (lss/runtime/engine/gate.h). Leaves whose state is too large to be compared say in each cycle that it plays no role
// (`unchanged`), those that use the time say how long they are idle (next_event); where one can do neither,
// the cluster does not sleep.
//
// Before each segment of a sleeping cluster the signals that the segment reads from outside are looked at; an item,
// another number or another acknowledgment wakes it from that segment on, since the segments before it would have
// computed what is in the scratch already.  Debug builds step everything, and so find modules that say `unchanged` too
// early.
#include "lss/emit/emit.h"

#include <string.h>

static bool may_sleep(const Instance *leaf) {
  if (leaf->leaf->crossing) return false;
  for (guint i = 0; i < leaf->functions->len; i++)
    if (((Function *)leaf->functions->pdata[i])->partial) return false;
  return true;
}

// Behaviour given by the user of a module, of which the module cannot know that it asks for the time.
bool emit_is_timed_by_user(const Instance *leaf) {
  for (guint i = 0; i < leaf->userpoints->len; i++) {
    const Userpoint *userpoint = leaf->userpoints->pdata[i];
    if (userpoint->code && module_source_uses_time(userpoint->code->string)) return true;
  }
  return false;
}

// How it is known that nothing but inputs and compared state lets the leaf do something else: from its C, because it
// says so in each cycle, or because its next_event says when it will.
typedef enum { BY_CODE, BY_UNCHANGED, BY_NEXT_EVENT, UNKNOWN } Stability;

// Whether time passing makes it do something else.
static bool is_timed(const ModuleSource *source) {
  return source->timed || source->waits;
}

static Stability stability(const Emitter *emitter, const Instance *leaf) {
  const ModuleSource *source = g_hash_table_lookup(emitter->sources, leaf->leaf->c_file);
  if (emit_is_timed_by_user(leaf)) return UNKNOWN;
  if (!emit_find_function(leaf, FUNCTION_PHASE_END)) return is_timed(source) ? UNKNOWN : BY_CODE;
  const bool large = emit_large_state(leaf), bounded = emit_find_function(leaf, FUNCTION_NEXT_EVENT);
  if (!large && !is_timed(source)) return bounded || source->unchanged ? BY_CODE : UNKNOWN;
  if (source->unchanged) return BY_UNCHANGED;
  return bounded && !large ? BY_NEXT_EVENT : UNKNOWN;
}

static bool sleeps(const Emitter *emitter, const Cluster *cluster) {
  if (emitter->debug || !cluster->instance || cluster->probes->len) return false;
  for (guint i = 0; i < cluster->leaves->len; i++) {
    const Instance *leaf = cluster->leaves->pdata[i];
    if (!may_sleep(leaf) || stability(emitter, leaf) == UNKNOWN) return false;
    for (guint k = 0; k < emitter->netlist->collectors->len; k++) {
      const Collector *collector = emitter->netlist->collectors->pdata[k];
      if (!collector->on_connections && emit_collects(emitter, collector, leaf)) return false;
    }
  }
  g_autoptr(GPtrArray) clocks = emit_cluster_clocks(cluster);
  return clocks->len == 1;
}

bool emit_gated(const Emitter *emitter, const Cluster *cluster) {
  gpointer known;
  if (g_hash_table_lookup_extended(emitter->gated, cluster, NULL, &known)) return GPOINTER_TO_INT(known);
  const bool gated = sleeps(emitter, cluster);
  g_hash_table_insert(emitter->gated, (gpointer)cluster, GINT_TO_POINTER(gated));
  return gated;
}

bool emit_says_unchanged(const Emitter *emitter, const Cluster *cluster, const Instance *leaf) {
  return emit_gated(emitter, cluster) && stability(emitter, leaf) == BY_UNCHANGED;
}

GPtrArray *emit_border(const Emitter *emitter, const Cluster *cluster, const Segment *reader) {
  GPtrArray *wires = g_ptr_array_new();
  const GPtrArray *all = emitter->wires_of[cluster->id];
  const Vertex *first = reader && reader->items->len ? ((Item *)reader->items->pdata[0])->nodes->pdata[0] : NULL;
  for (guint i = 0; i < all->len; i++) {
    Wire *wire = all->pdata[i];
    if (wire->kind == SIGNAL_LOCAL) continue;
    bool own = wire->writer->cluster == cluster, crosses = false, read = false;
    for (guint k = 0; k < wire->readers->len; k++) {
      const Vertex *node = wire->readers->pdata[k];
      crosses |= (node->cluster == cluster) != own;
      read |= first && !own && emitter->segment_of[node->id] == emitter->segment_of[first->id];
    }
    if (reader ? read : crosses) g_ptr_array_add(wires, wire);
  }
  return wires;
}

GPtrArray *emit_driven(const Emitter *emitter, const Segment *segment) {
  g_autoptr(GPtrArray) all = emit_border(emitter, segment->cluster, NULL);
  GPtrArray *own = g_ptr_array_new();
  const Vertex *first = ((Item *)segment->items->pdata[0])->nodes->pdata[0];
  for (guint i = 0; i < all->len; i++) {
    const Vertex *writer = ((Wire *)all->pdata[i])->writer;
    if (writer->cluster == segment->cluster && emitter->segment_of[writer->id] == emitter->segment_of[first->id])
      g_ptr_array_add(own, all->pdata[i]);
  }
  return own;
}

// Whether a payload is one number: it is compared, since what shows a state in every cycle would keep all its readers
// awake.
static bool is_number(const Wire *wire) {
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
static bool kept(const Wire *wire, const Cluster *cluster) {
  return wire->writer->cluster != cluster && (wire->kind == SIGNAL_ACK || is_number(wire));
}

void emit_gate_variables(const Emitter *emitter, GString *out, Cluster *cluster) {
  g_autoptr(GPtrArray) wires = emit_border(emitter, cluster, NULL);
  g_string_append_printf(out, "static spinach_gate spinach_gate_%d = SPINACH_GATE;\nstatic struct {\n", cluster->id);
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (!kept(wire, cluster)) continue;
    if (wire->kind == SIGNAL_DATA)
      g_string_append_printf(out, "  %s d%d;\n", emit_c_type(wire->connection->type), wire->id);
    g_string_append_printf(out, "  bool w%d;\n", wire->id);
  }
  g_string_append_printf(out, "} spinach_kept_%d;\n", cluster->id);
}

void emit_border_reference(const Emitter *emitter, GString *out, const Wire *wire, const char *suffix) {
  Cluster *root = emitter->schedule->clusters->pdata[emitter->schedule->clusters->len - 1], *owner;
  char base[256];
  emit_place(emitter, wire, root, &owner);
  emit_wire_base(owner, wire, base, sizeof base);
  g_string_append_printf(out, "spinach_scratch_%d.%s%s", owner->id, base, suffix);
}

// "a_some | (b_some != kept) | (b_some & (b != kept)) | (c != kept)": true when something comes in that is not what it
// was.
static void comes_in(const Emitter *emitter, GString *out, const Cluster *cluster, const GPtrArray *wires) {
  const char *join = "";
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    const bool data = wire->kind == SIGNAL_DATA;
    if (wire->writer->cluster == cluster || (!data && !kept(wire, cluster))) continue;
    g_autoptr(GString) flag = g_string_new(NULL), value = g_string_new(NULL);
    emit_border_reference(emitter, flag, wire, data ? "_some" : "");
    emit_border_reference(emitter, value, wire, "");
    g_string_append(out, join);
    if (!kept(wire, cluster))
      g_string_append(out, flag->str);
    else
      g_string_append_printf(out, "(%s != spinach_kept_%d.w%d)", flag->str, cluster->id, wire->id);
    if (data && kept(wire, cluster))
      g_string_append_printf(out, " | (%s & (%s != spinach_kept_%d.d%d))", flag->str, value->str, cluster->id,
                             wire->id);
    join = " | ";
  }
  if (!*join) g_string_append(out, "0");
}

// Whether something comes that is never compared.
static void comes_uncompared(const Emitter *emitter, GString *out, const Cluster *cluster, const GPtrArray *wires) {
  g_string_append(out, "0");
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (wire->kind != SIGNAL_DATA || wire->writer->cluster == cluster || kept(wire, cluster)) continue;
    g_string_append(out, " | ");
    emit_border_reference(emitter, out, wire, "_some");
  }
}

void emit_gate_open(const Emitter *emitter, GString *out, const Segment *segment) {
  int id = segment->cluster->id;
  g_autoptr(GPtrArray) wires = emit_border(emitter, segment->cluster, segment);
  g_string_append_printf(out, "  if (!spinach_gate_%d.asleep || spinach_time.cycle >= spinach_gate_%d.wake || (", id,
                         id);
  comes_in(emitter, out, segment->cluster, wires);
  g_string_append_printf(out, ")) {\n  if (spinach_gate_%d.asleep) spinach_gate_wake(&spinach_gate_%d);\n", id, id);
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
  g_autoptr(GPtrArray) wires = emit_border(emitter, cluster, NULL);
  g_autofree char *replaying =
      emit_replays(emitter, cluster) ? g_strdup_printf("!spinach_replay_%d.at && ", id) : g_strdup("");
  g_string_append_printf(
      out,
      "  if (%s!spinach_gate_%d.asleep && spinach_gate_may_try(&spinach_gate_%d, spinach_cluster_state[%d]) "
      "&&\n      spinach_gate_try(&spinach_gate_%d, spinach_cluster_state[%d], %s_compared, "
      "spinach_scratch_%d.unchanged && !(",
      replaying, id, id, id, id, id, emitter->kind_of[id]->name, id);
  comes_uncompared(emitter, out, cluster, wires);
  g_string_append_printf(
      out, ")) && spinach_gate_sleep(&spinach_gate_%d, %s_first_event(spinach_cluster_state[%d], %s))) {\n", id,
      emitter->kind_of[id]->name, id, segment->clock->rounded ? "spinach_cycle_length" : "spinach_time.period");
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (!kept(wire, cluster)) continue;
    const bool data = wire->kind == SIGNAL_DATA;
    g_string_append_printf(out, "    spinach_kept_%d.w%d = ", id, wire->id);
    emit_border_reference(emitter, out, wire, data ? "_some" : "");
    g_string_append(out, ";\n");
    if (!data) continue;
    g_string_append_printf(out, "    spinach_kept_%d.d%d = ", id, wire->id);
    emit_border_reference(emitter, out, wire, "");
    g_string_append(out, ";\n");
  }
  g_string_append(out, "  }\n");
}

// What is compared is at the beginning of the cluster's state.
static void emit_compared(GString *out, const Kind *kind) {
  const GPtrArray *leaves = kind->cluster->leaves;
  g_autofree char *end = g_strdup("end");
  for (guint i = leaves->len; i-- > 0;) {
    if (!emit_large_state(leaves->pdata[i])) continue;
    g_free(end);
    end = g_strdup_printf("i%u", i);
  }
  g_string_append_printf(out, "const size_t @K@_compared = offsetof(@K@_state, %s);\n", end);
}

void emit_gate_functions(const Emitter *emitter, GString *out, const Kind *kind) {
  const GPtrArray *leaves = kind->cluster->leaves;
  emit_compared(out, kind);
  g_string_append(out, "uint64_t @K@_first_event(const @K@_state *s, uint64_t length) {\n  (void)s;\n"
                       "  uint64_t first = UINT64_MAX, one;\n  spinach_time.cycle++, spinach_time.now += length;\n");
  for (guint i = 0; i < leaves->len; i++)
    if (stability(emitter, leaves->pdata[i]) == BY_NEXT_EVENT)
      g_string_append_printf(out, "  one = @K@_S%d_next_event(&s->i%u);\n  if (one < first) first = one;\n",
                             kind->spec_of[i], i);
  g_string_append(out, "  spinach_time.cycle--, spinach_time.now -= length;\n  (void)one;\n  return first;\n}\n");
}
