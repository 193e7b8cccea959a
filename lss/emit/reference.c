// A signal in the code of a cluster: a local variable, a field of a scratch, or of the state that it shows.
#include "lss/emit/emit.h"

static void emit_shown_value(const Emitter *emitter, GString *out, const Cluster *cluster, const Wire *wire) {
  const Shown shown = emitter->plan->wires[wire->id].shown;
  g_string_append_printf(out, "s->i%d.%s", plan_leaf_index(cluster, wire->writer->instance), shown.field->name);
  if (shown.field->dimensions->len) g_string_append_printf(out, "[%d]", shown.element);
}

void emit_reference(const Emitter *emitter, GString *out, Cluster *cluster, const Wire *wire, const char *suffix) {
  char base[256];
  if (wire->always) {
    g_string_append(out, "true");
    return;
  }
  Cluster *owner = emitter->plan->wires[wire->id].owner;
  const Place place = plan_place(emitter->plan, wire, cluster);
  plan_wire_base(place == PLACE_FOREIGN ? owner : cluster, wire, base, sizeof base);
  switch (place) {
  case PLACE_STATE:
    if (*suffix)
      g_string_append(out, "true"); // always sent
    else
      emit_shown_value(emitter, out, cluster, wire);
    break;
  case PLACE_LOCAL: g_string_append_printf(out, "%s%s", base, suffix); break;
  case PLACE_SCRATCH: g_string_append_printf(out, "x->%s%s", base, suffix); break;
  case PLACE_POINTER: g_string_append_printf(out, "(*x->p_%s%s)", base, suffix); break;
  case PLACE_FOREIGN: g_string_append_printf(out, "spinach_scratch_%d.%s%s", owner->id, base, suffix); break;
  }
}

void emit_border_reference(const Emitter *emitter, GString *out, const Wire *wire, const char *suffix) {
  Cluster *owner = emitter->plan->wires[wire->id].owner;
  char base[256];
  plan_wire_base(owner, wire, base, sizeof base);
  g_string_append_printf(out, "spinach_scratch_%d.%s%s", owner->id, base, suffix);
}
