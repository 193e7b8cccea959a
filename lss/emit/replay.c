// Replay of clusters (lss/runtime/replay/replay.h): what of their state decides what they do, and how the runtime reads
// and drives what crosses their border.  Which clusters that are is decided in lss/plan/replay.c.
#include "lss/emit/emit.h"

#include <string.h>

#define INLINE "SPINACH_INLINE "

// ---- Its state -------------------------------------------------------------------------------------------------

static const GPtrArray *state_of(const Kind *kind, guint leaf) {
  return ((Instance *)kind->cluster->leaves->pdata[leaf])->state;
}

static void emit_span(GString *out, const Kind *kind, guint leaf, const StateField *first, const StateField *last) {
  g_autofree char *from = plan_field_name(first), *to = plan_field_name(last);
  g_string_append_printf(out, "  SPAN(%s.%s, %s.%s) END\n", kind->names[leaf], from, kind->names[leaf], to);
}

// Behaviour lies together in a leaf's state, in the order of declaration.
static guint emit_spans(GString *out, const Kind *kind, guint leaf) {
  const GPtrArray *state = state_of(kind, leaf);
  const StateField *first = NULL, *last = NULL;
  guint count = 0;
  for (guint i = 0; i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind == STATE_BEHAVIOUR) {
      if (!first) first = field;
      last = field;
    } else if (plan_is_compared(field)) {
      emit_span(out, kind, leaf, field, field);
      count++;
    }
  }
  if (!first) return count;
  emit_span(out, kind, leaf, first, last);
  return count + 1;
}

static guint emit_memories(GString *out, const Kind *kind, guint leaf) {
  const GPtrArray *state = state_of(kind, leaf);
  guint count = 0;
  for (guint i = 0; i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind != STATE_MEMORY || plan_is_compared(field)) continue;
    emit_span(out, kind, leaf, field, field);
    count++;
  }
  return count;
}

// A row for each element of the fields of a kind: its place, and its size where that differs.
static guint emit_elements(GString *out, const Kind *kind, guint leaf, StateKind which, bool sized) {
  const GPtrArray *state = state_of(kind, leaf);
  guint count = 0;
  for (guint i = 0; i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind != which) continue;
    g_autofree char *name = plan_field_name(field);
    const gsize size = type_size(field->type, NULL), elements = plan_field_size(field) / size;
    for (gsize k = 0; k < elements; k++, count++) {
      g_string_append_printf(out, "  {offsetof(@K@_state, %s.%s) + %zu", kind->names[leaf], name, k * size);
      g_string_append_printf(out, sized ? ", %zu},\n" : "},\n", size);
    }
  }
  return count;
}

static guint emit_instants(GString *out, const Kind *kind, guint leaf) {
  return emit_elements(out, kind, leaf, STATE_INSTANT, false);
}

static guint emit_counters(GString *out, const Kind *kind, guint leaf) {
  return emit_elements(out, kind, leaf, STATE_COUNTER, true);
}

static guint emit_trace_rows(GString *out, const Kind *kind, guint leaf) {
  const GPtrArray *state = state_of(kind, leaf);
  guint count = 0;
  for (guint i = 0; i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind != STATE_TRACE) continue;
    g_autofree char *name = plan_field_name(field);
    const gsize size = type_size(field->type, NULL);
    g_string_append_printf(out, "  {offsetof(@K@_state, %s.%s), %zu, %zu, ", kind->names[leaf], name, size,
                           plan_field_size(field) / size);
    if (plan_is_ring(field))
      g_string_append_printf(out, "offsetof(@K@_state, %s.spinach_ring_%s)},\n", kind->names[leaf], field->name);
    else
      g_string_append(out, "0},\n");
    count++;
  }
  return count;
}

// Copies all spans, one after the other: much faster than by the table.
static void emit_copies(GString *out, const Kind *kind) {
  g_autoptr(GString) spans = g_string_new(NULL);
  for (guint i = 0; i < kind->cluster->leaves->len; i++) emit_spans(spans, kind, i);
  g_string_append_printf(
      out,
      "#define SPAN(first, last) memcpy(to, state + offsetof(@K@_state, first), SIZE(first, last)), "
      "to += SIZE(first, last)\n"
      "static void @K@_keep(const uint8_t *state, uint8_t *to) {\n%s  (void)to;\n}\n#undef SPAN\n"
      "#define SPAN(first, last) memcpy(state + offsetof(@K@_state, first), from, SIZE(first, last)), "
      "from += SIZE(first, last)\n"
      "static void @K@_put(uint8_t *state, const uint8_t *from) {\n%s  (void)from;\n}\n#undef SPAN\n",
      spans->str, spans->str);
}

// What the runtime must know of a cluster's state: a table for each kind of state, with rows of all leaves.
void emit_replay_state(GString *out, const Kind *kind) {
  static const struct {
    const char *type, *one, *all;
    guint (*rows)(GString *out, const Kind *kind, guint leaf);
  } tables[] = {{"spinach_replay_span", "span", "spans", emit_spans},
                {"uint32_t", "instant", "instants", emit_instants},
                {"spinach_replay_counter", "counter", "counters", emit_counters},
                {"spinach_replay_trace", "trace", "traces", emit_trace_rows},
                {"spinach_replay_span", "memory", "memories", emit_memories}};
  g_autoptr(GString) fields = g_string_new(NULL);
  g_string_append(out, "#define SIZE(first, last) (offsetof(@K@_state, last) + sizeof(((@K@_state *)NULL)->last) - "
                       "offsetof(@K@_state, first))\n#define END ;\n");
  emit_copies(out, kind);
  g_string_append(out, "#undef END\n#define END ,\n#define SPAN(first, last) {offsetof(@K@_state, first), SIZE(first, "
                       "last)}\n");
  for (gsize t = 0; t < G_N_ELEMENTS(tables); t++) {
    guint count = 0;
    g_string_append_printf(out, "static const %s @K@_%s[] = {\n", tables[t].type, tables[t].all);
    for (guint i = 0; i < kind->cluster->leaves->len; i++) count += tables[t].rows(out, kind, i);
    g_string_append(out, "};\n");
    g_string_append_printf(fields, ".%s_count = %u, .%s = @K@_%s, ", tables[t].one, count, tables[t].all,
                           tables[t].all);
  }
  g_string_append_printf(out, "const spinach_replay_kind @K@_replay = {%s.keep = @K@_keep, .put = @K@_put};\n",
                         fields->str);
}

// ---- Its border ------------------------------------------------------------------------------------------------

// Whose functions these are: "3_0" for the first segment of cluster 3.
static char *segment_name(const Segment *segment) {
  return g_strdup_printf("%d_%d", segment->cluster->id, segment->index);
}

static const char *suffix(const Wire *wire) {
  return wire->kind == SIGNAL_DATA ? "_some" : "";
}

// Bit i is the flag of wire i; the last one is read first, so that each but that costs an addition.
static void emit_flags(const Emitter *emitter, GString *out, const char *name, const GPtrArray *wires) {
  g_string_append_printf(out, INLINE "uint64_t spinach_replay_flags_%s(void) {\n  uint64_t flags = 0;\n", name);
  for (guint i = wires->len; i--;) {
    g_string_append(out, "  flags = 2 * flags + ");
    emit_border_reference(emitter, out, wires->pdata[i], suffix(wires->pdata[i]));
    g_string_append(out, ";\n");
  }
  g_string_append_printf(out,
                         "  return flags;\n}\n"
                         "static uint64_t spinach_replay_all_flags_%s(void) { return spinach_replay_flags_%s(); }\n",
                         name, name);
}

// Payloads of what comes; what is not sent has none.
static void emit_payloads(const Emitter *emitter, GString *out, const char *name, const GPtrArray *wires) {
  g_autoptr(GString) keep = g_string_new(NULL), same = g_string_new(NULL);
  guint64 items = 0;
  g_string_append(out, "typedef struct {\n  char none;\n");
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    if (wire->kind != SIGNAL_DATA) continue;
    items |= G_GUINT64_CONSTANT(1) << i;
    g_autoptr(GString) some = g_string_new(NULL), value = g_string_new(NULL);
    emit_border_reference(emitter, some, wire, "_some");
    emit_border_reference(emitter, value, wire, "");
    g_string_append_printf(out, "  %s v%u;\n", emit_c_type(wire->connection->type), i);
    g_string_append_printf(keep, "  if (%s) memcpy(&c->v%u, &%s, sizeof c->v%u);\n", some->str, i, value->str, i);
    g_string_append_printf(same, "  if (%s && memcmp(&c->v%u, &%s, sizeof c->v%u) != 0) return false;\n", some->str, i,
                           value->str, i);
  }
  g_string_append_printf(
      out,
      "} spinach_replay_payloads_%s;\nenum : uint64_t { spinach_replay_items_%s = %" G_GUINT64_FORMAT
      "u };\nstatic void spinach_replay_input_%s(uint8_t *bytes) {\n"
      "  spinach_replay_payloads_%s *c = (void *)bytes;\n  (void)c;\n%s}\n" INLINE
      "bool spinach_replay_same_%s(const uint8_t *bytes) {\n"
      "  const spinach_replay_payloads_%s *c = (const void *)bytes;\n  (void)c;\n%s  return true;\n}\n"
      "static bool spinach_replay_all_same_%s(const uint8_t *bytes) { return "
      "spinach_replay_same_%s(bytes); }\n",
      name, name, items, name, name, keep->str, name, name, same->str, name, name);
}

// The item that an enable which the segment drives commits, if the segment sends it as well.
static const Wire *committed_by(const GPtrArray *wires, const Wire *wire) {
  for (guint i = 0; wire->kind == SIGNAL_ENABLE && i < wires->len; i++) {
    const Wire *data = wires->pdata[i];
    if (data->kind == SIGNAL_DATA && data->connection == wire->connection) return data;
  }
  return NULL;
}

// What it drives; an item that is not sent is zero, and so is its enable, which means nothing without it.
static void emit_outputs(const Emitter *emitter, GString *out, const Segment *segment, const GPtrArray *wires) {
  g_autofree char *name = segment_name(segment);
  g_autoptr(GString) keep = g_string_new(NULL);
  const int id = segment->cluster->id;
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    char base[256];
    plan_wire_name(emitter->plan, segment->cluster, wire, "", base, sizeof base);
    const Wire *data = committed_by(wires, wire);
    g_string_append_printf(keep, "  o->%s%s = from->%s%s", base, suffix(wire), base, suffix(wire));
    if (data) {
      char item[256];
      plan_wire_name(emitter->plan, segment->cluster, data, "", item, sizeof item);
      g_string_append_printf(keep, " & from->%s_some", item);
    }
    g_string_append(keep, ";\n");
    if (wire->kind == SIGNAL_DATA)
      g_string_append_printf(keep, "  if (from->%s_some) o->%s = from->%s;\n", base, base, base);
  }
  g_string_append_printf(out,
                         "typedef %s_driven%d spinach_replay_border_%s;\n"
                         "static void spinach_replay_output_%s(uint8_t *bytes) {\n"
                         "  spinach_replay_border_%s *o = (void *)bytes, *from = &spinach_scratch_%d.driven%d;\n"
                         "  (void)from;\n  memset(o, 0, sizeof *o);\n%s}\n"
                         "static void spinach_replay_drive_%s(const uint8_t *bytes) {\n"
                         "  spinach_scratch_%d.driven%d = *(const spinach_replay_border_%s *)bytes;\n}\n",
                         emitter->kind_of[id]->name, segment->index, name, name, name, id, segment->index, keep->str,
                         name, id, segment->index, name);
}

// Its functions; returns the row of the table that names them.
static char *emit_segment_replay(const Emitter *emitter, GString *out, const Segment *segment) {
  const int id = segment->cluster->id;
  g_autofree char *name = segment_name(segment);
  const SegmentPlan *found = plan_of_segment(emitter->plan, segment);
  emit_flags(emitter, out, name, found->reads);
  emit_payloads(emitter, out, name, found->reads);
  emit_outputs(emitter, out, segment, found->drives);
  g_string_append_printf(
      out, "static void spinach_replay_step_%s(void) { %s_%s%d(spinach_cluster_state[%d], &spinach_scratch_%d); }\n",
      name, emitter->kind_of[id]->name, !plan_of(emitter->plan, segment->cluster)->obstacle ? "record" : "seg",
      segment->index, id, id);
  return g_strdup_printf("  {sizeof(spinach_replay_payloads_%s), sizeof(spinach_replay_border_%s), "
                         "spinach_replay_all_flags_%s, spinach_replay_input_%s, spinach_replay_all_same_%s, "
                         "spinach_replay_output_%s, spinach_replay_drive_%s, spinach_replay_step_%s},\n",
                         name, name, name, name, name, name, name, name);
}

static void emit_cluster_replay(const Emitter *emitter, GString *out, const Cluster *cluster) {
  const int id = cluster->id;
  const bool replays = !plan_of(emitter->plan, cluster)->obstacle;
  g_autoptr(GString) rows = g_string_new(NULL);
  for (guint i = 0; i < cluster->segments->len; i++) {
    g_autofree char *row = emit_segment_replay(emitter, out, cluster->segments->pdata[i]);
    g_string_append(rows, row);
  }
  g_autofree char *kind = replays ? g_strdup_printf("&%s_replay", emitter->kind_of[id]->name) : g_strdup("NULL");
  g_string_append_printf(out,
                         "static const spinach_replay_segment spinach_replay_segments_%d[] = {\n%s};\n"
                         "static const spinach_replay_cluster spinach_replayed_%d = {",
                         id, rows->str, id);
  emit_quoted(out, cluster->instance->path);
  g_string_append_printf(out, ", %d, %u, %s, spinach_replay_segments_%d};\n", id, cluster->segments->len, kind, id);
  if (!replays) return;
  g_autofree char *gate =
      plan_of(emitter->plan, cluster)->sleeps ? g_strdup_printf("&spinach_gate_%d", id) : g_strdup("NULL");
  g_string_append_printf(out, "static spinach_replay spinach_replay_%d = SPINACH_REPLAY(spinach_replayed_%d, %s);\n",
                         id, id, gate);
}

void emit_replay_variables(const Emitter *emitter, GString *out) {
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    const Cluster *cluster = emitter->plan->schedule->clusters->pdata[i];
    if (!plan_of(emitter->plan, cluster)->obstacle || plan_of(emitter->plan, cluster)->sleeps)
      emit_cluster_replay(emitter, out, cluster);
    if (!plan_of(emitter->plan, cluster)->obstacle) g_string_append_printf(all, "&spinach_replay_%u, ", i);
  }
  g_string_append_printf(out, "spinach_replay *const spinach_replays[] = {%sNULL};\n", all->str);
}

void emit_replay_open(GString *out, const Segment *segment) {
  const int id = segment->cluster->id;
  const bool last = segment->index + 1 == (int)segment->cluster->segments->len;
  g_autofree char *name = segment_name(segment);
  g_string_append_printf(out,
                         "  if (__builtin_expect(spinach_replay_%d.at != NULL, 0)) {\n"
                         "    spinach_replay_edge *edge = spinach_replay_%d.at->edges;\n"
                         "    const uint64_t flags = spinach_replay_flags_%s();\n"
                         "    if (__builtin_expect(edge->flags == flags, 1) &&\n"
                         "        (!(flags & spinach_replay_items_%s) || spinach_replay_same_%s(edge->input))) {\n"
                         "      if (spinach_replay_take(&spinach_replay_%d, edge, %d, %s, spinach_time.cycle)) "
                         "spinach_replay_drive_%s(edge->output->bytes);\n"
                         "    } else {\n      spinach_replay_look(&spinach_replay_%d);\n    }\n  } else {\n",
                         id, id, name, name, name, id, segment->index, last ? "true" : "false", name, id);
}

void emit_replay_stepped(GString *out, const Segment *segment) {
  const int id = segment->cluster->id;
  if (segment->index + 1 == (int)segment->cluster->segments->len)
    g_string_append_printf(
        out, "  if (spinach_replay_may_enter(&spinach_replay_%d)) spinach_replay_watch(&spinach_replay_%d);\n", id, id);
}

void emit_replay_close(GString *out) {
  g_string_append(out, "  }\n");
}
