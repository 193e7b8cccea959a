// The state of a specialisation by kinds: how C calls a field, and how fields lie in memory.
#include "lss/emit/emit.h"

// ---- Layout ----------------------------------------------------------------------------------------------------

// The flight that is field `first`, as lss/runtime/engine/flight.h has it.
static void emit_flight_fields(GString *out, const GPtrArray *state, guint first) {
  const StateField *flight = state->pdata[first], *item = state->pdata[first + 2];
  g_string_append_printf(out, "  struct {\n    spinach_flight places;\n    uint64_t arrives[%d];\n  ",
                         g_array_index(item->dimensions, int, 0));
  emit_field(out, "item", item->type, item->dimensions);
  g_string_append_printf(out, "  } spinach_flight_%s;\n", flight->name);
}

static void emit_fields(GString *out, const GPtrArray *state, StateKind kind) {
  for (guint i = 0; state && i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind != kind || field->flight) continue;
    if (kind == STATE_FLIGHT) {
      emit_flight_fields(out, state, i);
      continue;
    }
    g_autofree char *name = plan_field_name(field);
    emit_field(out, name, field->type, field->dimensions);
    if (plan_is_ring(field))
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
  emit_fields(out, instance->state, STATE_MEMORY);
  if (has_memory(instance)) g_string_append(out, "  uint8_t spinach_beyond[8];\n");
  for (StateKind kind = STATE_BEHAVIOUR; kind < STATE_MEMORY; kind++) emit_fields(out, instance->state, kind);
  for (guint i = 0; i < instance->parameters->len; i++) {
    const Parameter *parameter = instance->parameters->pdata[i];
    if (!parameter->runtime) continue;
    const char *type = emit_runtime_type(parameter);
    if (type)
      g_string_append_printf(out, "  %s rt_%s;\n", type, parameter->name);
    else
      g_string_append_printf(out, "  spinach_text rt_%s;\n", parameter->name);
  }
  g_string_append(out, "  uint32_t spinach_id;\n"); // the last of what a checkpoint compares
  for (StateKind kind = STATE_BEHAVIOUR; kind < STATE_KINDS; kind++) emit_fields(out, instance->elsewhere_state, kind);
  for (guint i = 0; i < spec->collectors->len; i++) {
    const Collector *collector = spec->collectors->pdata[i];
    if (!collector->shared && !collector->of) g_string_append_printf(out, "  @S@_collector_%u collector_%u;\n", i, i);
  }
  g_string_append(out, "} @S@_state;\n");
}

static void emit_trace_words(GString *out, const GPtrArray *state) {
  for (guint i = 0; state && i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind != STATE_TRACE) continue;
    g_autofree char *ring = g_strdup_printf(", self->spinach_ring_%s", field->name);
    g_string_append_printf(out, "#define SP_note_%s(...) %s(self->spinach_trace_%s%s, __VA_ARGS__)\n", field->name,
                           plan_is_ring(field) ? "SP_NOTE_RING" : "SP_NOTE", field->name,
                           plan_is_ring(field) ? ring : "");
  }
}

void emit_traces(GString *out, const Instance *instance) {
  emit_trace_words(out, instance->state);
  emit_trace_words(out, instance->elsewhere_state);
}

// Whole, an item goes into the ring; from one half of a crossing to the other it goes over a link.
static void emit_flight_words(GString *out, const GPtrArray *state, bool sends) {
  int link = 0;
  for (guint i = 0; state && i < state->len; i++) {
    const StateField *field = state->pdata[i];
    if (field->kind != STATE_FLIGHT) continue;
    g_string_append_printf(out, "#define SP_flight_send_%s(ticks, ...) ", field->name);
    if (sends)
      g_string_append_printf(out, "SP_LINK_SEND(self->spinach_flight_%s, %d, ticks, __VA_ARGS__)\n", field->name,
                             link++);
    else
      g_string_append_printf(out, "SP_FLIGHT_SEND(self->spinach_flight_%s, \"%s\", SP_cut, ticks, __VA_ARGS__)\n",
                             field->name, field->name);
  }
}

void emit_flights(GString *out, const Instance *instance) {
  emit_flight_words(out, instance->state, false);
  emit_flight_words(out, instance->elsewhere_state, true);
}
