// Signals that are a field of their writer's state and nothing else: `handler(show, i) { send(shown, i,
// self->value[i]); }`, or `self->value[i / 2]` where two lanes show one element.
//
// The generated code has no copy of such a signal: who reads it is given the place in the state, and loads the value
// where it looks at it, which for registers is seldom.  That is the same as long as the writer changes its state after
// all have read, so a signal is kept in this way only when the schedule says so.
#include "lss/plan/plan.h"

#include <string.h>

static Shown field_behind(const Plan *plan, const Wire *wire) {
  const Shown nothing = {0};
  const Vertex *writer = wire->writer;
  if (wire->kind != SIGNAL_DATA || wire->flagged || !writer || writer->kind != VERTEX_FUNCTION) return nothing;
  const Function *function = writer->function;
  if (function->kind != FUNCTION_HANDLER || function->partial || writer->writes->len != 1) return nothing;
  const ModuleSource *source = g_hash_table_lookup(plan->sources, writer->instance->leaf->c_file);
  const Hook *hook = source ? module_source_hook(source, "handler", function->name) : NULL;
  if (!hook || !hook->shown_field || strcmp(hook->shown_port, wire->connection->from->c_name) != 0) return nothing;
  const StateField *field = instance_find_state(writer->instance, hook->shown_field);
  if (!field || (int)field->dimensions->len != (hook->shown_divisor > 0)) return nothing;
  const int element = hook->shown_divisor ? function->lane / hook->shown_divisor : 0;
  if (hook->shown_divisor && (function->lane < 0 || element >= g_array_index(field->dimensions, int, 0)))
    return nothing;
  if (strcmp(field->type->c_name, wire->connection->type->c_name) != 0) return nothing;
  // Its own functions have a scalar by value, but of a struct they would see what they have just changed.
  if (plan_by_pointer(field->type) && module_source_looks_at(source, hook->shown_port)) return nothing;
  return (Shown){field, element};
}

static bool read_before(const Plan *plan, const Wire *wire, int change) {
  for (guint i = 0; i < wire->readers->len; i++) {
    const Vertex *reader = wire->readers->pdata[i];
    if (reader->instance == wire->writer->instance && reader->kind == VERTEX_FUNCTION) continue; // has it by value
    if (reader->cluster != wire->writer->cluster || reader->clock != wire->writer->clock) return false;
    if (change && plan->place_of[reader->id] >= change) return false;
  }
  return true;
}

void plan_find_shown(Plan *plan) {
  const Schedule *schedule = plan->schedule;
  if (plan->debug) return;                                     // debug builds look at every signal
  g_autoptr(GHashTable) change = g_hash_table_new(NULL, NULL); // Instance* -> first place that changes its state
  for (guint i = 0; i < schedule->nodes->len; i++) {
    const Vertex *node = schedule->nodes->pdata[i];
    if (node->kind != VERTEX_FUNCTION || node->function->kind != FUNCTION_PHASE_END) continue;
    const int known = GPOINTER_TO_INT(g_hash_table_lookup(change, node->instance)), place = plan->place_of[node->id];
    if (!known || place < known) g_hash_table_insert(change, node->instance, GINT_TO_POINTER(place));
  }
  for (guint i = 0; i < schedule->wires->len; i++) {
    const Wire *wire = schedule->wires->pdata[i];
    const Shown shown = plan_visible(plan, wire) ? (Shown){0} : field_behind(plan, wire);
    if (shown.field && read_before(plan, wire, GPOINTER_TO_INT(g_hash_table_lookup(change, wire->writer->instance))))
      plan->wires[wire->id].shown = shown;
  }
}

bool plan_read_in_place(const Plan *plan, const Port *port) {
  for (int lane = 0; !port->output && lane < (int)port->lanes->len; lane++) {
    const Wire *wire = schedule_port_wire(plan->schedule, port, SIGNAL_DATA, lane);
    if (wire && plan->wires[wire->id].shown.field) return true;
  }
  return plan_by_pointer(port->type);
}

bool plan_shows(const Plan *plan, const Vertex *node) {
  return node->writes->len == 1 && plan->wires[((Wire *)node->writes->pdata[0])->id].shown.field;
}
