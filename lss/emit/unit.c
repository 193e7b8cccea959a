// The unit of a cluster: types, headers, specialisations, state and scratch structs, and the functions that step it.
// The unit of the root cluster also owns the scratch of all clusters and holds the step function of each clock.
#include "lss/emit/emit.h"

#include <string.h>

#define VOCABULARY "#include \"lss/runtime/engine/vocabulary.h\"\n"

static char *replace(const char *text, const char *what, const char *with) {
  g_auto(GStrv) parts = g_strsplit(text, what, -1);
  return g_strjoinv(with, parts);
}

// ---- Specialisations -------------------------------------------------------------------------------------------

static void make_specs(Emitter *emitter, Kind *kind) {
  Cluster *cluster = kind->cluster;
  kind->specs = g_ptr_array_new();
  kind->spec_of = g_new0(int, cluster->leaves->len + 1);
  g_autoptr(GHashTable) by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < cluster->leaves->len; i++) {
    Instance *leaf = cluster->leaves->pdata[i];
    Spec *spec = emit_spec_new(emitter, leaf);
    char *key = g_strconcat(spec->structs, spec->code, NULL);
    Spec *known = g_hash_table_lookup(by_text, key);
    if (known) {
      kind->spec_of[i] = known->index;
      g_free(key);
      emit_spec_free(spec);
      continue;
    }
    spec->index = (int)kind->specs->len;
    kind->spec_of[i] = spec->index;
    g_ptr_array_add(kind->specs, spec);
    g_hash_table_insert(by_text, key, spec);
    char prefix[32];
    g_snprintf(prefix, sizeof prefix, "@K@_S%d", spec->index);
    char *code = replace(spec->code, "@S@", prefix), *structs = replace(spec->structs, "@S@", prefix);
    g_free(spec->code);
    g_free(spec->structs);
    spec->code = code;
    spec->structs = structs;
  }
}

// ---- Structs ---------------------------------------------------------------------------------------------------

static void emit_probe_structs(const Emitter *emitter, GString *out, Cluster *cluster) {
  for (guint i = 0; i < cluster->probes->len; i++) {
    for (guint k = 0; k < emitter->plan->netlist->collectors->len; k++) {
      const Collector *collector = emitter->plan->netlist->collectors->pdata[k];
      if (!collector->on_connections || collector->shared ||
          !plan_collects(emitter->plan, collector, cluster->probes->pdata[i]))
        continue;
      g_string_append_printf(out, "typedef struct {");
      emit_code(out, collector->declare);
      g_string_append_printf(out, "\n} @K@_probe%u_%s;\n#line 1 \"generated\"\n", i, collector->c_name);
    }
    g_string_append(out, "typedef struct {\n  uint64_t count[4];\n");
    for (guint k = 0; k < emitter->plan->netlist->collectors->len; k++) {
      const Collector *collector = emitter->plan->netlist->collectors->pdata[k];
      if (!collector->on_connections || collector->shared ||
          !plan_collects(emitter->plan, collector, cluster->probes->pdata[i]))
        continue;
      g_string_append_printf(out, "  @K@_probe%u_%s %s;\n", i, collector->c_name, collector->c_name);
    }
    g_string_append_printf(out, "  uint32_t connection;\n} @K@_probe%u;\n", i);
  }
}

static void emit_texts(GString *out, const Instance *leaf, guint index) {
  for (guint i = 0; i < leaf->parameters->len; i++) {
    const Parameter *parameter = leaf->parameters->pdata[i];
    if (parameter->runtime && !emit_runtime_type(parameter))
      g_string_append_printf(out, "  char text%u_%s[SPINACH_STRING_SIZE];\n", index, parameter->name);
  }
}

// The state of a leaf, or of all of its row.
static void emit_leaf_state(GString *out, const Kind *kind, guint leaf) {
  const int spec = kind->spec_of[leaf];
  if (!kind->row[spec])
    g_string_append_printf(out, "  @K@_S%d_state %s;\n", spec, kind->names[leaf]);
  else if (!kind->element[leaf])
    g_string_append_printf(out, "  @K@_S%d_state r%d[%u];\n", spec, spec, kind->row[spec]);
}

// Small states first, so that what is accessed in every cycle is contiguous.
static void emit_state_struct(const Emitter *emitter, GString *out, Kind *kind) {
  Cluster *cluster = kind->cluster;
  for (guint i = 0; i < kind->specs->len; i++) g_string_append(out, ((Spec *)kind->specs->pdata[i])->structs);
  emit_probe_structs(emitter, out, cluster);
  g_string_append(out, "typedef struct {\n");
  for (int large = 0; large < 2; large++) {
    for (guint i = 0; i < cluster->leaves->len; i++)
      if (plan_large_state(cluster->leaves->pdata[i]) == large) emit_leaf_state(out, kind, i);
    for (guint i = 0; !large && i < cluster->probes->len; i++)
      g_string_append_printf(out, "  @K@_probe%u probe%u;\n", i, i);
  }
  g_string_append(out, "  char end;\n");
  for (guint i = 0; i < cluster->leaves->len; i++) emit_texts(out, cluster->leaves->pdata[i], i);
  g_string_append(out, "} @K@_state;\n");
}

// A pointer to a signal that is in another scratch.
static void emit_pointer(const Emitter *emitter, GString *out, Cluster *cluster, const Wire *wire, const char *suffix) {
  char name[256];
  plan_wire_name(emitter->plan, cluster, wire, suffix, name, sizeof name);
  g_string_append_printf(out, "  %s *p_%s;\n", emit_signal_type(wire, suffix), name);
}

// What a segment drives over the border, side by side, so that replay drives it in one go: as a struct, and by signal.
static void emit_driven_members(const Emitter *emitter, GString *out, const Segment *segment, const GPtrArray *wires) {
  g_autoptr(GString) members = g_string_new(NULL);
  for (guint i = 0; i < wires->len; i++) emit_signal(emitter, members, segment->cluster, wires->pdata[i], "", "");
  for (guint i = 0; i < wires->len; i++)
    if (((const Wire *)wires->pdata[i])->kind == SIGNAL_DATA)
      emit_signal(emitter, members, segment->cluster, wires->pdata[i], "_some", "");
  g_string_append_printf(out, "  union {\n  struct {\n%s  };\n  @K@_driven%d driven%d;\n  };\n", members->str,
                         segment->index, segment->index);
  g_autofree char *type = g_strdup_printf("typedef struct {\n%s} @K@_driven%d;\n", members->str, segment->index);
  g_string_prepend(out, type);
}

// Signals that outlive a function, and pointers to those that a neighbour owns.
static void emit_scratch_struct(const Emitter *emitter, GString *out, Cluster *cluster) {
  g_autoptr(GHashTable) driven = g_hash_table_new(NULL, NULL);
  g_string_append(out, "typedef struct {\n");
  for (guint i = 0; cluster->instance && i < cluster->segments->len; i++) {
    const GPtrArray *wires = plan_of_segment(emitter->plan, cluster->segments->pdata[i])->drives;
    emit_driven_members(emitter, out, cluster->segments->pdata[i], wires);
    for (guint k = 0; k < wires->len; k++) g_hash_table_add(driven, wires->pdata[k]);
  }
  const GPtrArray *wires = plan_of(emitter->plan, cluster)->wires;
  for (guint i = 0; i < wires->len; i++) {
    const Wire *wire = wires->pdata[i];
    const Place place = plan_place(emitter->plan, wire, cluster);
    if (place != PLACE_SCRATCH && place != PLACE_POINTER) continue;
    const char *const suffixes[] = {"", wire->kind == SIGNAL_DATA ? "_some" : NULL, wire->flagged ? "_known" : NULL};
    for (gsize k = g_hash_table_contains(driven, wire) ? 2 : 0; k < G_N_ELEMENTS(suffixes); k++) {
      if (!suffixes[k]) continue;
      if (place == PLACE_POINTER)
        emit_pointer(emitter, out, cluster, wire, suffixes[k]);
      else
        emit_signal(emitter, out, cluster, wire, suffixes[k], "");
    }
  }
  g_string_append(out,
                  "  bool watches, moved; // whether to note what is transferred, and whether anything was (gate.h)\n"
                  "} @K@_scratch;\n");
}

// ---- Functions -------------------------------------------------------------------------------------------------

static void emit_observers(const Emitter *emitter, GString *out, Cluster *cluster) {
  static const char *const conditions[] = {"some & enable & ack", "some & !ack", "some & ack & !enable", "!some"};
  for (guint i = 0; i < cluster->probes->len; i++) {
    GString *body = g_string_new(NULL);
    for (guint k = 0; k < emitter->plan->netlist->collectors->len; k++) {
      const Collector *c = emitter->plan->netlist->collectors->pdata[k];
      if (!c->on_connections || !plan_collects(emitter->plan, c, cluster->probes->pdata[i])) continue;
      g_autofree char *type = c->shared ? g_strdup_printf("struct spinach_shared_%s", c->c_name)
                                        : g_strdup_printf("@K@_probe%u_%s", i, c->c_name);
      const Value *codes[] = {c->init, c->record, c->report};
      const char *const words[] = {"init", "record", "report"};
      for (int w = 0; w < 3; w++) {
        if (c->shared && w != 1) continue;
        g_string_append_printf(out,
                               "static inline void @K@_%s_%u_%u(%s *self, uint32_t spinach_id, const char *path, "
                               "uint64_t now, uint64_t cycle) {",
                               words[w], i, k, type);
        emit_body(out, codes[w]);
      }
      g_autofree char *self =
          c->shared ? g_strdup_printf("spinach_shared_%s", c->c_name) : g_strdup_printf("&p->%s", c->c_name);
      for (gsize e = 0; e < G_N_ELEMENTS(conditions); e++)
        if (!strcmp(connection_events[e], c->event) && c->record)
          g_string_append_printf(body,
                                 "  if (%s) @K@_record_%u_%u(%s, SPINACH_CONNECTION_ID | p->connection, "
                                 "spinach_connection_path(p->connection), "
                                 "spinach_time.now, spinach_time.cycle);\n",
                                 conditions[e], i, k, self);
    }
    const Connection *connection = cluster->probes->pdata[i];
    const guint recorded = emit_recorded_kinds(emitter, connection);
    const char *type = emit_c_type(connection->type);
    g_string_append_printf(
        out, "static inline void @K@_observe_%u(@K@_probe%u *p, const %s *data, bool some, bool enable, bool ack) {\n",
        i, i, type);
    for (guint e = 0; e < G_N_ELEMENTS(conditions); e++) emit_record_connection(body, recorded, e, conditions[e], type);
    if (emitter->plan->collect_connections)
      for (gsize e = 0; e < G_N_ELEMENTS(conditions); e++)
        g_string_append_printf(out, "  p->count[%zu] += %s;\n", e, conditions[e]);
    g_string_append_printf(out, "%s}\n", body->str);
    g_string_free(body, TRUE);
  }
}

// An include of a module, reported at its own place when there is nothing to include.
static void emit_include(GString *out, const Instance *leaf, const ModuleSource *source, guint index,
                         const char *text) {
  emit_line(out, (Location){.file = leaf->leaf->c_file, .line = g_array_index(source->include_lines, int, index)});
  g_string_append_printf(out, "#include %s\n#line 1 \"generated\"\n", text);
}

static void emit_headers(const Emitter *emitter, GString *out, Cluster *cluster) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < cluster->leaves->len; i++) {
    Instance *leaf = cluster->leaves->pdata[i];
    ModuleSource *source = g_hash_table_lookup(emitter->plan->sources, leaf->leaf->c_file);
    for (guint k = 0; source && k < source->includes->len; k++) {
      const char *include = source->includes->pdata[k];
      if (include[0] == '<' && g_hash_table_add(seen, (gpointer)include)) emit_include(out, leaf, source, k, include);
    }
  }
  for (guint i = 0; i < cluster->leaves->len; i++) {
    Instance *leaf = cluster->leaves->pdata[i];
    ModuleSource *source = g_hash_table_lookup(emitter->plan->sources, leaf->leaf->c_file);
    if (leaf->leaf->header_file && g_hash_table_add(seen, (gpointer)leaf->leaf->header_file))
      g_string_append_printf(out, "#include \"%s\"\n", leaf->leaf->header_file);
    // Headers shared by modules are read before the vocabulary too: they declare functions, not behaviour.
    for (guint k = 0; source && k < source->includes->len; k++) {
      const char *include = source->includes->pdata[k];
      if (include[0] != '"') continue;
      g_autofree char *header = module_source_header(leaf->leaf->c_file, include);
      g_autofree char *name = g_strndup(include + 1, strcspn(include + 1, "\""));
      const char *path = g_intern_string(header ? header : name);
      g_autofree char *quoted = g_strdup_printf("\"%s\"", path);
      if (g_hash_table_add(seen, (gpointer)path)) emit_include(out, leaf, source, k, quoted);
    }
  }
}

static bool records_in(const Emitter *emitter, const Collector *collector, const Cluster *cluster) {
  const GPtrArray *candidates = collector->on_connections ? cluster->probes : cluster->leaves;
  for (guint i = 0; i < candidates->len; i++)
    if (plan_collects(emitter->plan, collector, candidates->pdata[i])) return true;
  return false;
}

// Whether a collector, or one that records in its state, has code in a cluster.  Only there the unit is sure to have
// the types that what it includes is written in.
static bool is_needed_in(const Emitter *emitter, const Collector *collector, const Cluster *cluster) {
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++) {
    const Collector *c = emitter->plan->netlist->collectors->pdata[i];
    if ((c == collector || c->of == collector) && records_in(emitter, c, cluster)) return true;
  }
  return false;
}

static void emit_collector_includes(const Emitter *emitter, GString *out, const Cluster *cluster) {
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++)
    if (is_needed_in(emitter, emitter->plan->netlist->collectors->pdata[i], cluster))
      emit_collector_include(out, emitter->plan->netlist->collectors->pdata[i]);
}

static void emit_shared_collectors(const Emitter *emitter, GString *out, const Cluster *cluster) {
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++) {
    const Collector *c = emitter->plan->netlist->collectors->pdata[i];
    if (!c->shared || c->of || !is_needed_in(emitter, c, cluster)) continue;
    g_string_append_printf(out, "struct spinach_shared_%s {", c->c_name);
    emit_code(out, c->declare);
    g_string_append_printf(out, "\n};\n#line 1 \"generated\"\nextern struct spinach_shared_%s *spinach_shared_%s;\n",
                           c->c_name, c->c_name);
  }
}

// ---- Units -----------------------------------------------------------------------------------------------------

// What steps the cluster, and into `once` what starts and finishes it.
static void emit_runs(Emitter *emitter, GString *unit, GString *once, Kind *kind) {
  Cluster *cluster = kind->cluster;
  emit_once(emitter, once, kind);
  for (guint i = 0; i < cluster->segments->len; i++)
    emit_segment(emitter, unit, kind, cluster->segments->pdata[i], "seg", true);
  emit_skipping(emitter, unit, kind);
  if (emitter->plan->debug) emit_sleeper_functions(emitter, unit, kind);
  if (plan_of(emitter->plan, cluster)->sleeps) emit_gate_functions(emitter, unit, kind);
  if (!plan_of(emitter->plan, cluster)->obstacle) emit_replay_state(unit, kind);
  if (!cluster->instance) emit_root(emitter, unit, kind);
}

// The unit of the step that is written down: what it shares with the others, with words of its own.
static char *emit_record(Emitter *emitter, const char *common, Kind *kind) {
  GString *unit = g_string_new(common);
  const Cluster *cluster = kind->cluster;
  g_string_replace(unit, VOCABULARY,
                   cluster->instance ? VOCABULARY "#include \"lss/runtime/replay/recording.h\"\n"
                                     : VOCABULARY "#include \"lss/runtime/replay/tracking.h\"\n",
                   1);
  for (guint i = 0; i < cluster->segments->len; i++)
    emit_segment(emitter, unit, kind, cluster->segments->pdata[i], "record", false);
  return g_string_free(unit, FALSE);
}

// One that no cluster is of in the end.
static void kind_free(Kind *kind) {
  for (guint i = 0; i < kind->specs->len; i++) emit_spec_free(kind->specs->pdata[i]);
  g_ptr_array_unref(kind->specs);
  g_free(kind->spec_of);
  g_free(kind->names);
  g_free(kind->element);
  g_free(kind->row);
  for (guint i = 0; kind->parts && i < kind->parts->len; i++) g_string_free(kind->parts->pdata[i], TRUE);
  if (kind->parts) g_ptr_array_unref(kind->parts);
  g_hash_table_unref(kind->types);
  g_free(kind);
}

// How long the first bytes of a text are with the kind's name in them.
static gsize length_named(const char *text, gsize bytes, const char *name) {
  g_autofree char *start = g_strndup(text, bytes), *named = replace(start, "@K@", name);
  return strlen(named);
}

static char *text_of_all(const Kind *kind, const GString *unit, const GString *once) {
  GString *text = g_string_new(unit->str);
  g_string_append(text, once->str);
  for (guint i = 0; kind->parts && i < kind->parts->len; i++)
    g_string_append(text, ((GString *)kind->parts->pdata[i])->str);
  return g_string_free(text, FALSE);
}

// Pieces in units of their own, each with what all units have in common.
static void finish_parts(Kind *kind, const char *text, gsize common) {
  for (guint i = 0; kind->parts && i < kind->parts->len; i++) {
    GString *part = kind->parts->pdata[i];
    g_string_prepend_len(part, text, (gssize)common);
    kind->parts->pdata[i] = replace(part->str, "@K@", kind->name);
    g_string_free(part, TRUE);
  }
}

// Numbered, so that what one unit calls another does not change with what is inside it.
static char *next_name(const Emitter *emitter, const Cluster *cluster) {
  const char *module = cluster->instance ? cluster->instance->module_name : "root";
  guint earlier = 0;
  for (guint i = 0; i < emitter->kinds->len; i++) {
    const Instance *other = ((Kind *)emitter->kinds->pdata[i])->cluster->instance;
    earlier += other && cluster->instance && !strcmp(other->module_name, module);
  }
  return g_strdup_printf("%s_%u", module, earlier);
}

static void emit_kind(Emitter *emitter, Cluster *cluster, GHashTable *by_text) {
  Kind *kind = g_new0(Kind, 1);
  kind->cluster = cluster;
  kind->types = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < cluster->leaves->len; i++) emit_collect_instance_types(kind->types, cluster->leaves->pdata[i]);
  make_specs(emitter, kind);
  emit_name_leaves(kind);
  kind->rolls |= plan_of(emitter->plan, cluster)->rows->len > 0;
  emitter->kind_of[cluster->id] = kind; // until it is found to be another's
  bool root = !cluster->instance;
  GString *structs = g_string_new(NULL), *scratch = g_string_new(NULL),
          *unit = g_string_new("#include \"lss/runtime/engine/spinach.h\"\n#include \"lss/runtime/replay/replay.h\"\n");
  g_autoptr(GHashTable) already = g_hash_table_new(NULL, NULL);
  emit_types(unit, emitter->plan->netlist, kind->types, already);
  emit_type_declarations(unit, emitter->plan->netlist, kind->types);
  emit_state_struct(emitter, structs, kind);
  emit_scratch_struct(emitter, scratch, cluster);
  if (root) emit_foreign(emitter, unit, already);
  emit_headers(emitter, unit, cluster);
  emit_collector_includes(emitter, unit, cluster);
  emit_shared_collectors(emitter, unit, cluster);
  if (emitter->plan->netlist->records->len) g_string_append(unit, "#include \"lss/runtime/trace/record.h\"\n");
  g_string_append(unit, structs->str);
  g_string_append(unit, scratch->str);
  if (root)
    g_string_append_printf(unit, "extern void *spinach_cluster_state[];\n%s @K@_scratch spinach_scratch_%d;\n",
                           emitter->plan->shares_scratch ? "extern" : "static", cluster->id);
  const gsize head = unit->len;
  g_string_append(unit, VOCABULARY);
  for (guint i = 0; i < kind->specs->len; i++) {
    emit_spec_banner(unit, kind, i);
    g_string_append(unit, ((Spec *)kind->specs->pdata[i])->code);
  }
  g_string_append(unit, "\n#line 1 \"generated\"\n");
  emit_observers(emitter, unit, cluster);
  const gsize common = unit->len;
  GString *once = g_string_new(NULL);
  if (!emitter->plan->check_only) emit_runs(emitter, unit, once, kind);
  char *key = text_of_all(kind, unit, once);
  Kind *same = g_hash_table_lookup(by_text, key);
  if (same) {
    emitter->kind_of[cluster->id] = same;
    g_string_free(structs, TRUE);
    g_string_free(scratch, TRUE);
    g_string_free(once, TRUE);
    g_string_free(unit, TRUE);
    g_free(key);
    kind_free(kind);
    return;
  }
  g_hash_table_insert(by_text, key, kind);
  const bool together =
                 emitter->plan->check_only || (emitter->unoptimised && !plan_cluster_in_pieces(emitter->plan, cluster)),
             replays = !emitter->plan->check_only &&
                       (root ? emitter->plan->counts_loops : !plan_of(emitter->plan, cluster)->obstacle);
  if (together)
    g_string_append(unit, once->str);
  else
    g_string_insert_len(once, 0, unit->str, (gssize)common);
  kind->name = next_name(emitter, cluster);
  kind->unit = replace(unit->str, "@K@", kind->name);
  finish_parts(kind, unit->str, common);
  if (replays) {
    g_autofree char *common_text = g_strndup(unit->str, common), *record = emit_record(emitter, common_text, kind);
    kind->record = replace(record, "@K@", kind->name);
  }
  kind->once = together ? NULL : replace(once->str, "@K@", kind->name);
  kind->head = length_named(unit->str, head, kind->name);
  kind->structs = replace(structs->str, "@K@", kind->name);
  kind->scratch = replace(scratch->str, "@K@", kind->name);
  g_string_free(structs, TRUE);
  g_string_free(scratch, TRUE);
  g_string_free(once, TRUE);
  g_string_free(unit, TRUE);
  emitter->kind_of[cluster->id] = kind;
  g_ptr_array_add(emitter->kinds, kind);
}

void emit_kinds(Emitter *emitter) {
  const Schedule *schedule = emitter->plan->schedule;
  emitter->kind_of = g_new0(Kind *, schedule->clusters->len);
  emitter->kinds = g_ptr_array_new();
  g_autoptr(GHashTable) by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < schedule->clusters->len; i++) emit_kind(emitter, schedule->clusters->pdata[i], by_text);
}
