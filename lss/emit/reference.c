// A signal in the code of a cluster: a local variable, a field of a scratch, or of the state that it shows.
#include "lss/emit/emit.h"

#include <string.h>

static void emit_shown_value(const Emitter *emitter, GString *out, const Wire *wire) {
  const Shown shown = emitter->plan->wires[wire->id].shown;
  g_string_append_printf(out, "s->%s.%s", emit_leaf(emitter, wire->writer->instance), shown.field->name);
  if (shown.field->dimensions->len) g_string_append_printf(out, "[%d]", shown.element);
}

void emit_reference(const Emitter *emitter, GString *out, Cluster *cluster, const Wire *wire, const char *suffix) {
  char name[256];
  if (wire->always) {
    g_string_append(out, "true");
    return;
  }
  Cluster *owner = emitter->plan->wires[wire->id].owner;
  const Place place = plan_place(emitter->plan, wire, cluster);
  plan_wire_name(emitter->plan, place == PLACE_FOREIGN ? owner : cluster, wire, suffix, name, sizeof name);
  switch (place) {
  case PLACE_STATE:
    if (*suffix)
      g_string_append(out, "true"); // always sent
    else
      emit_shown_value(emitter, out, wire);
    break;
  case PLACE_LOCAL: g_string_append_printf(out, "%s", name); break;
  case PLACE_SCRATCH: g_string_append_printf(out, "x->%s", name); break;
  case PLACE_POINTER: g_string_append_printf(out, "(*x->p_%s)", name); break;
  case PLACE_FOREIGN: g_string_append_printf(out, "spinach_scratch_%d.%s", owner->id, name); break;
  }
}

void emit_border_reference(const Emitter *emitter, GString *out, const Wire *wire, const char *suffix) {
  Cluster *owner = emitter->plan->wires[wire->id].owner;
  char name[256];
  plan_wire_name(emitter->plan, owner, wire, suffix, name, sizeof name);
  g_string_append_printf(out, "spinach_scratch_%d.%s", owner->id, name);
}

// ---- Declarations --------------------------------------------------------------------------------------------------

const char *emit_signal_type(const Wire *wire, const char *suffix) {
  const Type *type = *suffix                      ? NULL
                     : wire->kind == SIGNAL_LOCAL ? wire->local->type
                     : wire->kind == SIGNAL_DATA  ? wire->connection->type
                                                  : NULL;
  return type ? emit_c_type(type) : "bool";
}

void emit_signal(const Emitter *emitter, GString *out, Cluster *cluster, const Wire *wire, const char *suffix,
                 const char *initial) {
  const WirePlan *found = &emitter->plan->wires[wire->id];
  if (found->element > 0) return; // it is declared with the first of its row
  char name[256];
  plan_wire_name(emitter->plan, cluster, wire, suffix, name, sizeof name);
  if (found->row)
    g_string_append_printf(out, "  %s %.*s[%u]%s;\n", emit_signal_type(wire, suffix), (int)strcspn(name, "["), name,
                           plan_row_length(emitter->plan, cluster, found->row), *initial ? " = {0}" : "");
  else
    g_string_append_printf(out, "  %s %s%s;\n", emit_signal_type(wire, suffix), name, initial);
}
