// Recorded events (--record): what generated code hands to the runtime, and the tables that say what it is.
#include "lss/emit/emit.h"

#include <string.h>

bool emit_records(const Spec *spec, const Event *event) {
  for (guint i = 0; i < spec->collectors->len; i++) {
    const Collector *collector = spec->collectors->pdata[i];
    if (collector->recorded && !strcmp(collector->event, event->name)) return true;
  }
  return false;
}

// Its number among those of the instance that are recorded.
static guint number_of(const Spec *spec, const Event *event) {
  guint number = 0;
  for (guint i = 0; spec->example->events->pdata[i] != event; i++)
    number += emit_records(spec, spec->example->events->pdata[i]);
  return number;
}

void emit_record_function(GString *out, const Spec *spec, const Event *event, const char *parameters) {
  g_string_append_printf(out,
                         "static inline void @S@_note_%s(const @S@_state *self%s) {\n"
                         "  if (!spinach_recorder.on) return;\n"
                         "  uint8_t *spinach_at = spinach_record(spinach_recorder.instances[self->spinach_id] + %u, 0",
                         event->name, parameters, number_of(spec, event));
  for (guint i = 0; i < event->arguments->len; i++)
    g_string_append_printf(out, " + sizeof %s", ((Field *)event->arguments->pdata[i])->name);
  g_string_append(out, ");\n");
  for (guint i = 0; i < event->arguments->len; i++) {
    const char *name = ((Field *)event->arguments->pdata[i])->name;
    g_string_append_printf(out, "  memcpy(spinach_at, &%s, sizeof %s), spinach_at += sizeof %s;\n", name, name, name);
  }
  g_string_append(out, "  (void)spinach_at;\n}\n");
}

guint emit_recorded_kinds(const Emitter *emitter, const Connection *connection) {
  guint kinds = 0;
  for (guint i = 0; i < emitter->plan->netlist->collectors->len; i++) {
    const Collector *collector = emitter->plan->netlist->collectors->pdata[i];
    if (!collector->recorded || !collector->on_connections || !plan_collects(emitter->plan, collector, connection))
      continue;
    for (guint k = 0; k < G_N_ELEMENTS(connection_events); k++)
      if (!strcmp(collector->event, connection_events[k])) kinds |= 1u << k;
  }
  return kinds;
}

void emit_record_connection(GString *out, guint kinds, guint kind, const char *condition, const char *type) {
  if (!(kinds >> kind & 1)) return;
  g_string_append_printf(out,
                         "  if (spinach_recorder.on && (%s)) memcpy(spinach_record(spinach_recorder.connections["
                         "p->connection] + %d, sizeof(%s)), data, sizeof(%s));\n",
                         condition, __builtin_popcount(kinds & ((1u << kind) - 1)), type, type);
}

void emit_recorded_arguments(GString *out, const Spec *spec, const char *name) {
  for (guint i = 0; i < spec->example->events->len; i++) {
    const Event *event = spec->example->events->pdata[i];
    if (!emit_records(spec, event)) continue;
    g_string_append_printf(out, "static const spinach_argument %s_%s[] = {", name, event->name);
    for (guint k = 0; k < event->arguments->len; k++) {
      const Field *argument = event->arguments->pdata[k];
      g_autofree char *type = emit_type_symbol(argument->type);
      g_string_append_printf(out, "{\"%s\", &%s}, ", argument->name, type);
    }
    g_string_append(out, "{0}};\n");
  }
}
