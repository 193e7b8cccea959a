// The unit of tables: what the runtime must know of a machine to lay out its arena, set its parameters, name its state,
// count its statistics and step it (lss/runtime/engine/machine.h).
#include "lss/emit/emit.h"

#include "lss/base/version.h"

#include <string.h>

// ---- Types -----------------------------------------------------------------------------------------------------

static guint member_count(const Type *type) {
  const GPtrArray *members = type->kind == TYPE_ENUM ? type->enumerators : type->fields;
  return members ? members->len : 0;
}

// ", least, most": the ends of int64_t where nothing is said.
static void emit_bounds(GString *out, const Bounds *bounds) {
  const char *const open[] = {"INT64_MIN", "INT64_MAX"};
  const int64_t ends[] = {bounds ? bounds->least : G_MININT64, bounds ? bounds->most : G_MAXINT64},
                none[] = {G_MININT64, G_MAXINT64};
  for (int i = 0; i < 2; i++)
    if (ends[i] == none[i])
      g_string_append_printf(out, ", %s", open[i]);
    else
      g_string_append_printf(out, ", INT64_C(%" G_GINT64_FORMAT ")", ends[i]);
}

static void emit_member(GString *out, const Type *type, guint index) {
  if (type->kind == TYPE_ENUM) {
    const Enumerator *e = type->enumerators->pdata[index];
    g_string_append_printf(out, "  {\"%s\", NULL, 0, %" G_GINT64_FORMAT ", 0", e->name, e->value);
    emit_bounds(out, NULL);
    g_string_append(out, "},\n");
    return;
  }
  const Field *field = type->fields->pdata[index];
  g_autofree char *inner = emit_type_symbol(field->type);
  g_string_append_printf(out, "  {\"%s\", &%s, ", field->name, inner);
  if (type->kind == TYPE_PACKED)
    g_string_append_printf(out, "%d, 0, %d", field->first, field->bits);
  else
    g_string_append_printf(out, "offsetof(%s, %s), 0, 0", type->c_name, field->name);
  emit_bounds(out, field->bounds);
  g_string_append(out, "},\n");
}

static void emit_descriptors(GString *out, const Netlist *netlist) {
  static const char *const kinds[] = {"BOOL", "INT",    "UINT",  "BITS",   "PACKED", "FLOAT",
                                      "ENUM", "STRUCT", "ARRAY", "STRING", "STREAM"};
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < netlist->types->len; i++) {
    const Type *type = netlist->types->pdata[i];
    const guint members = member_count(type);
    g_autofree char *symbol = emit_type_symbol(type);
    if (!g_hash_table_add(seen, g_strdup(symbol))) continue;
    if (members) g_string_append_printf(out, "static const struct spinach_member %s_members[] = {\n", symbol);
    for (guint k = 0; k < members; k++) emit_member(out, type, k);
    if (members) g_string_append(out, "};\n");
    g_string_append_printf(out, "const struct spinach_type %s = {SPINACH_%s, ", symbol, kinds[type->kind]);
    emit_quoted(out, type->name);
    g_string_append_printf(out, ", %d, sizeof(%s), ",
                           type->kind == TYPE_BOOL   ? 1
                           : type->kind == TYPE_ENUM ? 32
                                                     : type->bits,
                           emit_c_type(type));
    if (type->element) {
      g_autofree char *inner = emit_type_symbol(type->element);
      g_string_append_printf(out, "&%s, %d, ", inner, type->length);
    } else {
      g_string_append(out, "NULL, 0, ");
    }
    if (members)
      g_string_append_printf(out, "%u, %s_members};\n", members, symbol);
    else
      g_string_append(out, "0, NULL};\n");
  }
}

// ---- State -----------------------------------------------------------------------------------------------------

static void emit_event_row(GString *out, const Spec *spec, const char *name, const Event *event) {
  g_autoptr(GString) arguments = g_string_new(NULL);
  for (guint i = 0; i < event->arguments->len; i++) {
    const Field *argument = event->arguments->pdata[i];
    g_string_append_printf(arguments, "%s%s %s", i ? ", " : "", argument->type->name, argument->name);
  }
  g_string_append_printf(out, "  {\"%s\", ", event->name);
  emit_quoted(out, arguments->str);
  g_string_append(out, ", ");
  emit_quoted(out, event->doc);
  if (emit_records(spec, event))
    g_string_append_printf(out, ", %s_%s},\n", name, event->name);
  else
    g_string_append(out, ", NULL},\n");
}

static void emit_texts(GString *out, const char *name, const GPtrArray *texts) {
  g_string_append_printf(out, "static const char *const spinach_table_%s[] = {\n", name);
  for (guint i = 0; i < texts->len; i++) {
    g_string_append(out, "  ");
    emit_quoted(out, texts->pdata[i]);
    g_string_append(out, ",\n");
  }
  g_string_append(out, "  NULL\n};\n");
}

// What conditions wait for: how it is called, and where generated code finds its goal.
static void emit_watches(const Emitter *emitter, GString *out) {
  g_string_append_printf(out, "spinach_watch spinach_watches[%u];\n", emitter->plan->netlist->watches->len + 1);
  emit_texts(out, "watches", emitter->plan->netlist->watches);
}

static void emit_field_row(GString *out, const Spec *spec, const StateField *field, const char *layout) {
  const bool passes = field->kind == STATE_INSTANT || module_source_accounts_for(spec->source, field->name);
  const bool computed = module_source_computes(spec->source, field->name);
  static const char *const kinds[STATE_KINDS] = {"BEHAVIOUR", "INSTANT",   "STAMP", "COUNTER",
                                                 "TRACE",     "BEHAVIOUR", "MEMORY"};
  g_autofree char *type = emit_type_symbol(field->type), *member = plan_field_name(field),
                  *ring = g_strdup_printf("offsetof(%s_state, spinach_ring_%s)", layout, field->name);
  g_string_append_printf(out, "  {\"%s\", ", field->name);
  emit_quoted(out, field->doc);
  g_string_append(out, ", ");
  emit_quoted(out, field->unit);
  g_string_append_printf(out, ", &%s, offsetof(%s_state, %s), %u, {", type, layout, member, field->dimensions->len);
  for (guint d = 0; d < field->dimensions->len; d++)
    g_string_append_printf(out, "%d, ", MAX(g_array_index(field->dimensions, int, d), 1));
  if (!field->dimensions->len) g_string_append(out, "0");
  g_string_append_printf(out, "}, SPINACH_%s, %s, %s, %s, %s, %s, ", kinds[field->kind],
                         field->statistic ? "true" : "false", field->gauge ? "true" : "false",
                         passes ? "true" : "false", computed ? "true" : "false", plan_is_ring(field) ? ring : "0");
  if (field->ranges)
    g_string_append_printf(out, "%s_ranges_%s},\n", layout, field->name);
  else
    g_string_append(out, "NULL},\n");
}

// What a field, or members of its elements, may be; ends with one without a member's name.
static void emit_ranges(GString *out, const StateField *field, const char *layout) {
  if (!field->ranges) return;
  g_string_append_printf(out, "static const spinach_state_range %s_ranges_%s[] = {\n", layout, field->name);
  for (guint i = 0; i < field->ranges->len; i++) {
    const StateRange *range = &g_array_index(field->ranges, StateRange, i);
    g_string_append_printf(out, "  {\"%s\"", range->member);
    emit_bounds(out, &range->bounds);
    g_string_append_printf(out, ", %" G_GINT64_FORMAT "},\n", range->modulus);
  }
  g_string_append(out, "  {0}\n};\n");
}

static void emit_layouts(GString *out, const Kind *kind) {
  for (guint i = 0; i < kind->specs->len; i++) {
    const Spec *spec = kind->specs->pdata[i];
    const Instance *instance = spec->example;
    g_autofree char *name = g_strdup_printf("%s_S%u", kind->name, i);
    for (guint k = 0; k < instance->state->len; k++) emit_ranges(out, instance->state->pdata[k], name);
    g_string_append_printf(out, "static const spinach_field %s_fields[] = {\n", name);
    for (guint k = 0; k < instance->state->len; k++) emit_field_row(out, spec, instance->state->pdata[k], name);
    g_string_append(out, "  {0}\n};\n");
    emit_recorded_arguments(out, spec, name);
    g_string_append_printf(out, "static const spinach_event %s_events[] = {\n", name);
    for (guint k = 0; k < instance->events->len; k++) emit_event_row(out, spec, name, instance->events->pdata[k]);
    g_string_append_printf(out,
                           "  {0}\n};\nstatic const spinach_layout %s_layout = {\"%s\", sizeof(%s_state), "
                           "offsetof(%s_state, spinach_id), %u, %s_fields, %u, %s_events, "
                           "%s};\n",
                           name, instance->module_name, name, name, instance->state->len, name, instance->events->len,
                           name, instance->leaf->crossing ? "true" : "false");
  }
}

static void emit_instances(const Emitter *emitter, GString *out) {
  g_string_append(out, "static const spinach_instance spinach_table_instances[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->instances->len; i++) {
    const Instance *instance = emitter->plan->netlist->instances->pdata[i];
    g_string_append(out, "  {");
    emit_quoted(out, instance->path);
    int parent = instance->parent ? instance->parent->id : -1, clock = instance->clock ? instance->clock->id : 0;
    if (instance->leaf) {
      const Cluster *cluster = emitter->plan->schedule->cluster_of[instance->id];
      g_autofree char *spec = emit_spec_name(emitter, instance);
      g_string_append_printf(out, ", &%s_layout, offsetof(%s_state, %s), %d, %d, %d},\n", spec,
                             emitter->kind_of[cluster->id]->name, emit_leaf(emitter, instance), cluster->id, parent,
                             clock);
    } else {
      g_string_append_printf(out, ", NULL, 0, -1, %d, %d},\n", parent, clock);
    }
  }
  g_string_append(out, "};\n");
}

// ---- Clocks, connections, views ------------------------------------------------------------------------------------

static void emit_clocks(const Emitter *emitter, GString *out) {
  g_string_append(out, "static const spinach_clock spinach_table_clocks[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->clocks->len; i++) {
    const Clock *clock = emitter->plan->netlist->clocks->pdata[i];
    g_string_append(out, "  {");
    emit_quoted(out, clock->name);
    g_string_append_printf(out, ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GUINT64_FORMAT "u, %s},\n",
                           clock->num, clock->den, clock->period, clock->rounded ? "true" : "false");
  }
  g_string_append(out, "};\n");
}

static void emit_end(GString *out, const Port *port, int lane) {
  g_autofree char *name = port_lane_text(port, lane);
  g_autofree char *text = g_strdup_printf("%s.%s", port->instance->path, name);
  emit_quoted(out, text);
  g_string_append(out, ", ");
}

static void emit_passages(const Emitter *emitter, GString *out) {
  g_string_append(out, "static const spinach_passage spinach_table_passages[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->connections->len; i++) {
    const Connection *c = emitter->plan->netlist->connections->pdata[i];
    for (guint k = 0; k < c->passages->len; k++) {
      const Passage *passage = c->passages->pdata[k];
      g_string_append(out, "  {");
      emit_quoted(out, passage->text);
      g_string_append_printf(out, ", %d, %d},\n", passage->instance->id, passage->lane);
    }
  }
  g_string_append(out, "  {0}\n};\n");
}

static void emit_connections(const Emitter *emitter, GString *out) {
  guint passages = 0;
  g_string_append(out, "static const spinach_connection spinach_table_connections[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->connections->len; i++) {
    const Connection *c = emitter->plan->netlist->connections->pdata[i];
    g_string_append(out, "  {");
    emit_end(out, c->from, c->from_lane);
    emit_end(out, c->to, c->to_lane);
    g_autofree char *type = emit_type_symbol(c->type);
    g_string_append_printf(out, "%d, %d, %d, %d, %d, &%s, ", c->from_lane, c->to_lane, c->from->instance->id,
                           c->to->instance->id, c->to->clock ? c->to->clock->id : 0, type);
    const int probe = emitter->plan->schedule->probe_index[c->id];
    g_autofree char *passed = g_strdup_printf("%u, &spinach_table_passages[%u]", c->passages->len, passages);
    passages += c->passages->len;
    if (probe < 0) {
      g_string_append_printf(out, "-1, 0, 0, 0, %s},\n", passed);
      continue;
    }
    const Cluster *cluster = emitter->plan->schedule->cluster_of[c->to->instance->id];
    const char *name = emitter->kind_of[cluster->id]->name;
    g_string_append_printf(out,
                           "%d, offsetof(%s_state, probe%d.count), offsetof(%s_state, probe%d.connection), %u, %s},\n",
                           cluster->id, name, probe, name, probe, emit_recorded_kinds(emitter, c), passed);
  }
  g_string_append(out, "  {0}\n};\n");
}

static char *debug_state(const Emitter *emitter, const DebugState *state) {
  guint index = 0;
  if (!state->field) return g_strdup("{-1, NULL, 0, 0}");
  g_ptr_array_find(state->instance->state, state->field, &index);
  g_autofree char *spec = emit_spec_name(emitter, state->instance);
  return g_strdup_printf("{%d, &%s_fields[%u], %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT "}", state->instance->id,
                         spec, index, state->first, state->count);
}

static void emit_bits(GString *out, const DebugRegion *region, guint number, guint k) {
  for (guint n = 0; n < region->names->len; n++) {
    const DebugName *word = &g_array_index(region->names, DebugName, n);
    if (!word->bits->len) continue;
    g_string_append_printf(out, "static const spinach_debug_bits spinach_table_bits_%u_%u_%u[] = {\n", number, k, n);
    for (guint i = 0; i < word->bits->len; i++) {
      const DebugBits *bits = &g_array_index(word->bits, DebugBits, i);
      g_string_append(out, "  {");
      emit_c_string(out, bits->name);
      g_string_append_printf(out, ", 0x%" G_GINT64_MODIFIER "xu},\n", bits->mask);
    }
    g_string_append(out, "};\n");
  }
}

static void emit_regions(const Emitter *emitter, GString *out, const DebugView *view, guint number) {
  for (guint k = 0; k < view->regions->len; k++) {
    const DebugRegion *region = view->regions->pdata[k];
    emit_bits(out, region, number, k);
    g_string_append_printf(out, "static const spinach_debug_name spinach_table_names_%u_%u[] = {\n", number, k);
    for (guint n = 0; n < region->names->len; n++) {
      const DebugName *name = &g_array_index(region->names, DebugName, n);
      g_string_append(out, "  {");
      emit_c_string(out, name->name);
      g_string_append_printf(out, ", %" G_GINT64_FORMAT ", %u, ", name->offset, name->bits->len);
      if (name->bits->len)
        g_string_append_printf(out, "spinach_table_bits_%u_%u_%u},\n", number, k, n);
      else
        g_string_append(out, "NULL},\n");
    }
    g_string_append(out, "  {0}\n};\n");
  }
  g_string_append_printf(out, "static const spinach_debug_region spinach_table_regions_%u[] = {\n", number);
  for (guint k = 0; k < view->regions->len; k++) {
    const DebugRegion *region = view->regions->pdata[k];
    g_autofree char *state = debug_state(emitter, &region->state);
    g_string_append_printf(
        out, "  {0x%" G_GINT64_MODIFIER "xu, 0x%" G_GINT64_MODIFIER "xu, %s, %u, spinach_table_names_%u_%u},\n",
        region->first, region->last, state, region->names->len, number, k);
  }
  g_string_append(out, "  {0}\n};\n");
}

static void emit_view(const Emitter *emitter, GString *out, const DebugView *view, guint number) {
  g_string_append_printf(out, "static const spinach_debug_role spinach_table_roles_%u[] = {\n", number);
  for (guint k = 0; k < view->roles->len; k++) {
    const DebugRole *role = view->roles->pdata[k];
    g_autofree char *state = debug_state(emitter, &role->state);
    g_autofree char *map = debug_state(emitter, &role->map);
    g_string_append_printf(out, "  {\"%s\", %s, %s},\n", role->role, state, map);
  }
  g_string_append_printf(out, "  {0}\n};\nstatic const spinach_debug_property spinach_table_properties_%u[] = {\n",
                         number);
  for (guint k = 0; k < view->properties->len; k++) {
    const DebugProperty *property = &g_array_index(view->properties, DebugProperty, k);
    g_string_append_printf(out, "  {\"%s\", ", property->name);
    emit_c_string(out, property->value);
    g_string_append(out, "},\n");
  }
  g_string_append(out, "  {0}\n};\n");
  emit_regions(emitter, out, view, number);
}

static void emit_views(const Emitter *emitter, GString *out) {
  const GPtrArray *views = emitter->plan->netlist->debug_views;
  for (guint i = 0; i < views->len; i++) emit_view(emitter, out, views->pdata[i], i);
  g_string_append(out, "static const spinach_debug_view spinach_table_views[] = {\n");
  for (guint i = 0; i < views->len; i++) {
    const DebugView *view = views->pdata[i];
    g_string_append_printf(
        out,
        "  {\"%s\", %d, %u, spinach_table_roles_%u, %u, spinach_table_properties_%u, %u, spinach_table_regions_%u},\n",
        view->name, view->instance->id, view->roles->len, i, view->properties->len, i, view->regions->len, i);
  }
  g_string_append(out, "  {0}\n};\n");
}

static void emit_derived(const Emitter *emitter, GString *out) {
  const GPtrArray *all = emitter->plan->netlist->derived;
  for (guint i = 0; i < all->len; i++) {
    const Derived *derived = all->pdata[i];
    g_string_append_printf(out, "static const spinach_derived_step spinach_table_steps_%u[] = {\n", i);
    for (guint k = 0; k < derived->steps->len; k++) {
      const DerivedStep *step = &g_array_index(derived->steps, DerivedStep, k);
      char number[G_ASCII_DTOSTR_BUF_SIZE];
      g_string_append_printf(out, "  {'%c', %s, %d, ", step->kind, g_ascii_dtostr(number, sizeof number, step->number),
                             step->instance ? step->instance->id : -1);
      guint index = 0;
      g_autofree char *spec = step->field ? emit_spec_name(emitter, step->instance) : NULL;
      if (spec && g_ptr_array_find(step->instance->state, step->field, &index))
        g_string_append_printf(out, "&%s_fields[%u], %d},\n", spec, index, step->index);
      else
        g_string_append(out, "NULL, 0},\n");
    }
    g_string_append(out, "};\n");
  }
  g_string_append(out, "static const spinach_derived spinach_table_derived[] = {\n");
  for (guint i = 0; i < all->len; i++) {
    const Derived *derived = all->pdata[i];
    const char *const words[] = {derived->name, derived->unit, derived->doc, derived->formula};
    g_string_append_printf(out, "  {%d, %u, spinach_table_steps_%u", derived->instance->id, derived->steps->len, i);
    for (gsize w = 0; w < G_N_ELEMENTS(words); w++) {
      g_string_append(out, ", ");
      emit_quoted(out, words[w]);
    }
    g_string_append(out, "},\n");
  }
  g_string_append(out, "  {0}\n};\n");
}

// ---- Clusters --------------------------------------------------------------------------------------------------

// Collectors shared by all instances keep their state in a cluster of their own, after the others.
static void emit_shared(const Emitter *emitter, GString *out) {
  guint cluster = emitter->plan->schedule->clusters->len;
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++)
    emit_collector_include(out, emitter->plan->netlist->collectors->pdata[i]);
  GString *start = g_string_new("static void spinach_start_shared(void) {\n"),
          *report = g_string_new("static void spinach_report_shared(void) {\n");
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++) {
    const Collector *c = emitter->plan->netlist->collectors->pdata[i];
    if (!c->shared || c->of) continue;
    g_string_append_printf(out, "struct spinach_shared_%s {", c->c_name);
    emit_code(out, c->declare);
    g_string_append_printf(out, "\n};\n#line 1 \"generated\"\nstruct spinach_shared_%s *spinach_shared_%s;\n",
                           c->c_name, c->c_name);
    const Value *codes[] = {c->init, c->report};
    const char *const words[] = {"init", "report"};
    for (int w = 0; w < 2; w++) {
      g_string_append_printf(
          out,
          "static void spinach_shared_%s_%s(struct spinach_shared_%s *self, uint32_t spinach_id, const char *path) {",
          words[w], c->c_name, c->c_name);
      emit_body(out, codes[w]);
      g_string_append_printf(w ? report : start, "  spinach_shared_%s_%s(spinach_shared_%s, %d, spinach_path(%d));\n",
                             words[w], c->c_name, c->c_name, c->owner->id, c->owner->id);
    }
    g_autofree char *point =
        g_strdup_printf("  spinach_shared_%s = spinach_cluster_state[%u];\n", c->c_name, cluster++);
    g_string_insert(start, (gssize)strlen("static void spinach_start_shared(void) {\n"), point);
  }
  g_string_append_printf(out, "%s}\n%s}\n", start->str, report->str);
  g_string_free(start, TRUE);
  g_string_free(report, TRUE);
}

static guint emit_clusters(const Emitter *emitter, GString *out) {
  static const char *const words[] = {"start", "finish", "statistics", "report", "awaits", "check_state"};
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    const char *name = emitter->kind_of[i]->name;
    if (!g_hash_table_add(seen, emitter->kind_of[i])) continue;
    for (gsize w = 0; w < G_N_ELEMENTS(words); w++)
      g_string_append_printf(out, "void %s_%s(void *);\n", name, words[w]);
    g_string_append_printf(out, "void %s_reset(void *, int32_t, uint64_t);\n", name);
  }
  g_string_append(out, "static const spinach_cluster spinach_table_clusters[] = {\n");
  guint count = emitter->plan->schedule->clusters->len;
  for (guint i = 0; i < count; i++) {
    const char *name = emitter->kind_of[i]->name;
    g_string_append_printf(out, "  {sizeof(%s_state)", name);
    for (gsize w = 0; w < G_N_ELEMENTS(words); w++) g_string_append_printf(out, ", %s_%s", name, words[w]);
    g_string_append_printf(out, ", %s_reset},\n", name);
  }
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++) {
    const Collector *c = emitter->plan->netlist->collectors->pdata[i];
    if (!c->shared || c->of) continue;
    g_string_append_printf(out, "  {sizeof(struct spinach_shared_%s)},\n", c->c_name);
    count++;
  }
  g_string_append_printf(out, "};\nvoid *spinach_cluster_state[%u];\n", count);
  return count;
}

static guint emit_skippers(const Emitter *emitter, GString *out) {
  GString *table = g_string_new("static const spinach_skipper spinach_table_skippers[] = {\n");
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  guint count = 0;
  for (guint i = 0; i < emitter->plan->schedule->clusters->len; i++) {
    const GPtrArray *clocks = emitter->plan->clusters[i].clocks;
    const char *name = emitter->kind_of[i]->name;
    bool fresh = g_hash_table_add(seen, emitter->kind_of[i]);
    for (guint c = 0; c < clocks->len; c++, count++) {
      if (fresh)
        g_string_append_printf(out, "uint64_t %s_next_event%u(const void *);\nvoid %s_skip%u(void *, uint64_t);\n",
                               name, c, name, c);
      g_string_append_printf(table, "  {%u, %d, %s_next_event%u, %s_skip%u},\n", i, ((Clock *)clocks->pdata[c])->id,
                             name, c, name, c);
    }
  }
  g_string_append_printf(out, "%s  {0}\n};\n", table->str);
  g_string_free(table, TRUE);
  return count;
}

static void emit_source(GString *out, const char *path, GHashTable *seen) {
  if (!path || !g_hash_table_add(seen, (gpointer)path)) return;
  g_autofree char *bytes = NULL;
  gsize size;
  if (!g_file_get_contents(path, &bytes, &size, NULL)) return;
  g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, size);
  g_string_append(out, "  ");
  emit_quoted(out, path);
  g_string_append_printf(out, ", \"%s\",\n", sum);
}

static void emit_sources(const Emitter *emitter, GString *out) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  g_string_append(out, "static const char *const spinach_table_sources[] = {\n");
  for (guint i = 0; i < emitter->plan->netlist->sources->len; i++)
    emit_source(out, emitter->plan->netlist->sources->pdata[i], seen);
  for (guint i = 0; i < emitter->plan->netlist->leaves->len; i++) {
    const LeafModule *leaf = ((Instance *)emitter->plan->netlist->leaves->pdata[i])->leaf;
    emit_source(out, leaf->c_file, seen);
    emit_source(out, leaf->header_file, seen);
  }
  g_string_append(out, "  NULL\n};\n");
}

static void emit_environment(const Emitter *emitter, GString *out) {
  g_string_append(out, "static const char *const spinach_table_environment[] = {\n");
  for (guint i = 0; i + 1 < emitter->environment->len; i += 2) {
    g_string_append(out, "  ");
    emit_quoted(out, emitter->environment->pdata[i]);
    g_string_append(out, ", ");
    emit_quoted(out, emitter->environment->pdata[i + 1]);
    g_string_append(out, ",\n");
  }
  g_string_append(out, "  NULL\n};\n");
}

// The ends of links in the simulator of a part, and for each instance which are its.
static void emit_links(const Emitter *emitter, GString *out) {
  const Netlist *netlist = emitter->plan->netlist;
  g_string_append(out, "static const spinach_link_end spinach_table_links[] = {\n");
  for (guint i = 0; i < netlist->links->len; i++) {
    const LinkEnd *link = netlist->links->pdata[i];
    g_autofree char *spec = emit_spec_name(emitter, link->half);
    g_string_append(out, "  {");
    emit_quoted(out, link->path);
    g_string_append(out, ", ");
    emit_quoted(out, link->item->type->name);
    g_string_append_printf(out, ", %s, %" G_GUINT64_FORMAT "u, %zu, %d, %d, ", link->sends ? "true" : "false",
                           instance_cut(link->half, netlist->ticks_per_second), type_size(link->item->type, NULL),
                           g_array_index(link->item->dimensions, int, 0), link->half->id);
    if (link->sends)
      g_string_append(out, "0");
    else
      g_string_append_printf(out, "offsetof(%s_state, spinach_flight_%s)", spec, link->flight->name);
    g_autofree char *symbol = emit_type_symbol(link->item->type);
    g_string_append_printf(out, ", &%s},\n", symbol);
  }
  g_string_append(out, "  {0}\n};\n");
  if (!netlist->part) return;
  g_string_append(out, "const uint32_t spinach_link_of[] = {");
  for (guint i = 0; i < netlist->instances->len; i++)
    g_string_append_printf(out, "%d, ", ((Instance *)netlist->instances->pdata[i])->link);
  g_string_append(out, "};\n");
}

void emit_front(const Emitter *emitter, GString *out) {
  emit_banner(emitter, out);
  emit_names(emitter, out);
  g_string_append(out, "#include \"lss/runtime/engine/machine.h\"\n#include \"lss/runtime/run/main.h\"\n");
}

void emit_tables(Emitter *emitter, GString *out, GHashTable *already) {
  const Netlist *netlist = emitter->plan->netlist;
  g_autoptr(GHashTable) all = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < netlist->types->len; i++) g_hash_table_add(all, netlist->types->pdata[i]);
  emit_types(out, netlist, all, already);
  emit_type_declarations(out, netlist, all);
  emit_descriptors(out, netlist);
  for (guint i = 0; i < emitter->kinds->len; i++) {
    const Kind *kind = emitter->kinds->pdata[i];
    if (!already) g_string_append_printf(out, "%s\n#line 1 \"generated\"\n", kind->structs);
    emit_layouts(out, kind);
  }
  emit_instances(emitter, out);
  int parameters = emit_runtime_parameters(emitter, out), constants = emit_constants(emitter, out);
  const int identity = emit_identity(emitter, out);
  emit_clocks(emitter, out);
  emit_passages(emitter, out);
  emit_connections(emitter, out);
  emit_views(emitter, out);
  emit_watches(emitter, out);
  emit_texts(out, "records", netlist->records);
  emit_texts(out, "waves", netlist->waves);
  emit_derived(emitter, out);
  const guint balances = emit_balances(emitter, out);
  emit_tallied(emitter, out);
  GString *shared = g_string_new(NULL);
  emit_shared(emitter, shared);
  g_string_append(out, "extern void *spinach_cluster_state[];\n");
  g_string_append(out, shared->str);
  g_string_free(shared, TRUE);
  guint clusters = emit_clusters(emitter, out), skippers = emit_skippers(emitter, out),
        sleepers = emit_sleepers(emitter, out), silents = emit_silents(emitter, out);
  emit_sources(emitter, out);
  emit_environment(emitter, out);
  emit_links(emitter, out);
  if (emit_observed(emitter)) g_string_append(out, "extern const spinach_observed spinach_observations[];\n");
  g_string_append(out, "void spinach_join(void);\nvoid spinach_wake(void);\nvoid spinach_run(uint64_t *, uint64_t *, "
                       "const uint64_t *, int, "
                       "uint64_t, uint64_t);\nvoid spinach_run_tracked(uint64_t *, uint64_t *, const uint64_t *, int, "
                       "uint64_t, uint64_t);\nextern const spinach_sleeping spinach_sleepings[];\nconst "
                       "spinach_machine spinach_machine_table = {\n  ");
  emit_quoted(out, netlist->file);
  g_string_append_printf(out, ", \"%s\", ", version_number);
  emit_quoted(out, emitter->build_command);
  g_string_append_printf(out, ", %s, %s, %s, %" G_GUINT64_FORMAT "u,\n  %u, %d, %d, %u, %u, %u, %u, %u,\n",
                         emitter->plan->debug ? "true" : "false", emitter->plan->collect_connections ? "true" : "false",
                         emitter->plan->jumps ? "true" : "false", netlist->ticks_per_second, netlist->instances->len,
                         parameters, constants, netlist->clocks->len, netlist->connections->len,
                         netlist->debug_views->len, clusters, emitter->plan->skips ? skippers : 0);
  static const char *const tables[] = {"instances", "parameters", "constants", "clocks", "connections",
                                       "views",     "clusters",   "skippers",  "sources"};
  for (gsize i = 0; i < G_N_ELEMENTS(tables); i++) g_string_append_printf(out, "  spinach_table_%s,\n", tables[i]);
  g_string_append_printf(
      out,
      "  %s, %u, spinach_table_sleepers, spinach_join, spinach_wake, spinach_run, spinach_start_shared, "
      "spinach_report_shared, spinach_table_watches, spinach_table_records, spinach_table_waves, %u, "
      "spinach_table_derived, %s, spinach_sleepings, %u, spinach_table_balances, spinach_table_tallied, %u, %u, "
      "spinach_table_silents, "
      "%d, spinach_table_identity, spinach_table_environment, ",
      emit_observed(emitter) ? "spinach_observations" : "NULL", sleepers, netlist->derived->len,
      emitter->plan->counts_loops ? "spinach_run_tracked" : "NULL", balances, skippers, silents, identity);
  emit_quoted(out, netlist->part);
  g_string_append_printf(out, ", %u, spinach_table_links, ", netlist->links->len);
  emit_quoted(out, netlist->network);
  g_string_append_printf(out, ", %" G_GUINT64_FORMAT "u};\n", netlist->distance);
  g_string_append(out, "int main(int argc, char **argv) { return spinach_main(argc, argv); }\n");
}

char *emit_table_unit(Emitter *emitter) {
  GString *out = g_string_new(NULL);
  emit_front(emitter, out);
  emit_tables(emitter, out, NULL);
  return g_string_free(out, FALSE);
}
