// Cut crossings, as their declarations have them: a crossing whose ends may be in different parts of a network has one
// port at each end, and each of its functions and locals belongs to one end.  What of its state an end uses is found in
// its C (lss/plan/halves.c).
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

static Port *end_of(const Instance *instance, bool output) {
  Port *found = NULL;
  for (guint i = 0; i < instance->ports->len; i++) {
    Port *port = instance->ports->pdata[i];
    if (port->output != output) continue;
    if (found) return NULL;
    found = port;
  }
  return found;
}

// The ports that a function names: true after an error.
static bool names_both(const Function *function, const Port **port) {
  const GArray *lists[] = {function->reads, function->writes, function->bare_reads, function->bare_writes};
  *port = function->domain_port;
  for (gsize l = 0; l < G_N_ELEMENTS(lists); l++)
    for (guint i = 0; i < lists[l]->len; i++) {
      const Port *named = g_array_index(lists[l], Signal, i).port;
      if (*port && named && named != *port) return true;
      if (named) *port = named;
    }
  return false;
}

static bool names_local(const Function *function, const Local *local) {
  const GArray *lists[] = {function->reads, function->writes};
  for (gsize l = 0; l < G_N_ELEMENTS(lists); l++)
    for (guint i = 0; i < lists[l]->len; i++)
      if (g_array_index(lists[l], Signal, i).local == local) return true;
  return false;
}

static void check_functions(const Instance *instance, const Port *in, const Port *out) {
  for (guint i = 0; i < instance->functions->len; i++) {
    const Function *function = instance->functions->pdata[i];
    const Port *port;
    if (function->kind == FUNCTION_ALWAYS) continue; // no C, and nothing of the state
    if (names_both(function, &port))
      problem(function->location, "cut-state", "`%s` belongs to both ends of the crossing, `%s` and `%s`",
              function->name, in->name, out->name);
    else if (!port && (function->kind == FUNCTION_HANDLER || function->kind == FUNCTION_PHASE_START))
      problem(function->location, "cut-state",
              "`%s` names no signal of a port, which would say to which end of the crossing it belongs",
              function->name);
    else
      continue;
    diag_note(instance->cut_place, "the two ends may be in different parts of a network");
  }
}

static void check_locals(const Instance *instance) {
  for (guint l = 0; l < instance->locals->len; l++) {
    const Local *local = instance->locals->pdata[l];
    const Port *first = NULL;
    for (guint i = 0; i < instance->functions->len; i++) {
      const Function *function = instance->functions->pdata[i];
      const Port *port;
      if (!names_local(function, local) || names_both(function, &port) || !port) continue;
      if (!first) first = port;
      if (first == port) continue;
      problem(function->location, "cut-state", "the local `%s` is used at both ends of the crossing, `%s` and `%s`",
              local->name, first->name, port->name);
      diag_note(instance->cut_place, "the two ends may be in different parts of a network");
      break;
    }
  }
}

void check_cut(Inst *inst) {
  const Instance *instance = inst->instance;
  if (!instance->cut) return;
  const Port *in = end_of(instance, false), *out = end_of(instance, true);
  if (!in || !out) {
    problem(instance->cut_place, "misplaced", "a crossing that can be cut has one inport and one outport");
    return;
  }
  check_functions(instance, in, out);
  check_locals(instance);
}
