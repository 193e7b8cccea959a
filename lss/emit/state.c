// The state of a specialisation by kinds: how C calls a field, how fields lie in memory, and by which words a module
// reaches them (docs/module.md).  What is no behaviour has a name that modules do not know, so that what breaks the
// contract of a kind does not compile; the check here says in one line what clang would say in several.
#include "lss/base/diagnostics.h"
#include "lss/emit/emit.h"

#include <string.h>

static const char *const prefixes[STATE_KINDS] = {
    [STATE_INSTANT] = "spinach_instant_", [STATE_STAMP] = "spinach_stamp_",   [STATE_COUNTER] = "spinach_counted_",
    [STATE_TRACE] = "spinach_trace_",     [STATE_MEMORY] = "spinach_memory_",
};

char *emit_field_name(const StateField *field) {
  return g_strconcat(prefixes[field->kind] ? prefixes[field->kind] : "", field->name, NULL);
}

bool emit_is_ring(const StateField *field) {
  return field->kind == STATE_TRACE && field->dimensions->len;
}

// ---- Layout ----------------------------------------------------------------------------------------------------

static void emit_fields(GString *out, const Instance *instance, StateKind kind) {
  for (guint i = 0; i < instance->state->len; i++) {
    const StateField *field = instance->state->pdata[i];
    if (field->kind != kind) continue;
    g_autofree char *name = emit_field_name(field);
    emit_field(out, name, field->type, field->dimensions);
    if (emit_is_ring(field))
      g_string_append_printf(out, "  struct {\n    spinach_ring ring;\n    uint64_t laps[%d];\n  } spinach_ring_%s;\n",
                             MAX(g_array_index(field->dimensions, int, 0), 1), field->name);
  }
}

// What is read of a memory may end behind it, and nothing is done with what is there.
static bool has_memory(const Instance *instance) {
  for (guint i = 0; i < instance->state->len; i++)
    if (((StateField *)instance->state->pdata[i])->kind == STATE_MEMORY) return true;
  return false;
}

void emit_state(GString *out, const Spec *spec) {
  const Instance *instance = spec->example;
  for (guint i = 0; i < spec->collectors->len; i++) {
    const Collector *collector = spec->collectors->pdata[i];
    if (collector->shared || collector->of) continue;
    g_string_append(out, "typedef struct {");
    emit_code(out, collector->declare);
    g_string_append_printf(out, "\n} @S@_collector_%u;\n", i);
  }
  g_string_append(out, "typedef struct {\n");
  emit_fields(out, instance, STATE_MEMORY);
  if (has_memory(instance)) g_string_append(out, "  uint8_t spinach_beyond[8];\n");
  for (StateKind kind = STATE_BEHAVIOUR; kind < STATE_MEMORY; kind++) emit_fields(out, instance, kind);
  for (guint i = 0; i < instance->parameters->len; i++) {
    const Parameter *parameter = instance->parameters->pdata[i];
    if (!parameter->runtime) continue;
    const char *type = emit_runtime_type(parameter);
    if (type)
      g_string_append_printf(out, "  %s rt_%s;\n", type, parameter->name);
    else
      g_string_append_printf(out, "  spinach_text rt_%s;\n", parameter->name);
  }
  for (guint i = 0; i < spec->collectors->len; i++) {
    const Collector *collector = spec->collectors->pdata[i];
    if (!collector->shared && !collector->of) g_string_append_printf(out, "  @S@_collector_%u collector_%u;\n", i, i);
  }
  g_string_append(out, "  uint32_t spinach_id;\n");
  g_string_append(out, "} @S@_state;\n");
}

void emit_traces(GString *out, const Instance *instance) {
  for (guint i = 0; i < instance->state->len; i++) {
    const StateField *field = instance->state->pdata[i];
    if (field->kind != STATE_TRACE) continue;
    g_autofree char *ring = g_strdup_printf(", self->spinach_ring_%s", field->name);
    g_string_append_printf(out, "#define SP_note_%s(...) %s(self->spinach_trace_%s%s, __VA_ARGS__)\n", field->name,
                           emit_is_ring(field) ? "SP_NOTE_RING" : "SP_NOTE", field->name,
                           emit_is_ring(field) ? ring : "");
  }
}

// ---- Words -----------------------------------------------------------------------------------------------------

static const struct {
  const char *name;
  StateKind kind;
  bool anywhere; // else only where no behaviour comes of what it shows
} words[] = {
    {"self", STATE_BEHAVIOUR, true},         {"count", STATE_COUNTER, true},        {"report", STATE_COUNTER, true},
    {"begin_counting", STATE_COUNTER, true}, {"end_counting", STATE_COUNTER, true}, {"counted", STATE_COUNTER, false},
    {"set_until", STATE_INSTANT, true},      {"until", STATE_INSTANT, true},        {"within", STATE_INSTANT, true},
    {"set_stamp", STATE_STAMP, true},        {"stamped", STATE_STAMP, true},        {"passed", STATE_STAMP, true},
    {"is_now", STATE_STAMP, true},           {"copy_stamp", STATE_STAMP, true},     {"until_passed", STATE_STAMP, true},
    {"elapsed", STATE_STAMP, true},          {"note", STATE_TRACE, true},           {"load", STATE_MEMORY, true},
    {"store", STATE_MEMORY, true},           {"load_span", STATE_MEMORY, true},     {"store_span", STATE_MEMORY, true},
};

static bool may_look(const char *function) {
  return !strcmp(function, "init") || !strcmp(function, "statistics") || !strcmp(function, "finish");
}

static const char *const kind_names[STATE_KINDS] = {"field", "instant", "stamp", "statistic", "trace", "memory"};

static void report_wrong_word(Location at, const StateField *field) {
  const char *name = field->name;
  switch (field->kind) {
  case STATE_COUNTER:
    diag_error(at, "statistic-read",
               "`%s` is a %s: count(%s) and count(%s, n) add to it, report(%s, v) sets it, and in init, "
               "statistics and finish it is counted(%s)",
               name, field->statistic ? "statistic" : "counter", name, name, name, name);
    diag_note(field->location, "what behaviour depends on is state, with a statistic beside it");
    return;
  case STATE_INSTANT:
    diag_error(at, "state-kind",
               "`%s` is an instant: set_until(%s, k) lets it come in k cycles, and until(%s) says in how many", name,
               name, name);
    break;
  case STATE_STAMP:
    diag_error(at, "state-kind",
               "`%s` is a stamp: set_stamp(%s, k) puts it k after now, and passed(%s, k) says whether it is k ago",
               name, name, name);
    break;
  case STATE_TRACE:
    diag_error(at, "state-kind", "`%s` is a trace: note(%s, v) adds to it, and no behaviour looks at it", name, name);
    break;
  default:
    diag_error(at, "state-kind",
               "`%s` is a memory: load(%s, i) and store(%s, i, v) are its elements, load_span(%s, i, n) and "
               "store_span(%s, i, n) several of them",
               name, name, name, name, name);
  }
  diag_note(field->location, "declared here");
}

bool emit_check_words(const Spec *spec) {
  const Instance *instance = spec->example;
  bool fine = true;
  for (guint i = 0; i < spec->source->uses->len; i++) {
    const FieldUse *use = spec->source->uses->pdata[i];
    const StateField *field = instance_find_state(instance, use->field);
    gsize w = 0;
    while (strcmp(words[w].name, use->word) != 0) w++;
    const StateKind kind = words[w].kind, is = field ? field->kind : STATE_BEHAVIOUR;
    if (kind == is && (words[w].anywhere || may_look(use->function))) continue;
    Location at = {g_intern_string(spec->source->file), use->line, use->column, use->line, use->end_column};
    if (is == STATE_BEHAVIOUR)
      diag_error(at, "unknown-name", "%s has no %s `%s`", instance->module_name, kind_names[kind], use->field);
    else
      report_wrong_word(at, field);
    fine = false;
  }
  return fine;
}

bool emit_is_state_word(const char *word) {
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
    if (!strcmp(words[i].name, word)) return true;
  return false;
}
