// Named checks of a complete netlist.  Each looks at one thing; those that build on others run after them, and only
// when these found nothing (compile.c orders them).
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/front/wrapped.h"

#include <string.h>

// ---- Before connections are made: how ports are connected --------------------------------------------------

static int joined(const GPtrArray *lanes) {
  int count = 0;
  for (guint i = 0; i < lanes->len; i++) count += lanes->pdata[i] != NULL;
  return count;
}

static Location first_connection(const PortMember *member) {
  const GPtrArray *sides[] = {member->outer, member->inner};
  for (int s = 0; s < 2; s++)
    for (guint i = 0; i < sides[s]->len; i++)
      if (sides[s]->pdata[i]) return ((Joint *)sides[s]->pdata[i])->link->location;
  return member->port->location;
}

static bool check_sparse(const PortMember *member, const GPtrArray *lanes, bool inside) {
  Joint *highest = lanes->len ? lanes->pdata[lanes->len - 1] : NULL;
  for (guint i = 0; i < lanes->len; i++) {
    if (lanes->pdata[i]) continue;
    problem(highest ? highest->link->location : member->port->location, "sparse-lanes",
            "`%s` has lanes up to %u%s, but lane %u is not connected", member->port->name, lanes->len - 1,
            inside ? " inside" : "", i);
    diag_note(member->port->location, "declared here");
    return false;
  }
  return true;
}

// A port that is one with that of the module around it, which is reported there.
static bool is_joined(const Inst *inst, const PortDecl *decl) {
  return inst->joined && g_hash_table_contains(inst->joined, decl->name);
}

// What is easily overlooked of a wrapped instance: its port is not that of the same name which the module has itself.
static const char *own_port(const Inst *inst, const PortDecl *decl) {
  const Node *own = inst->wrapped && inst->parent->module ? body_declaration(inst->parent->body, decl->name) : NULL;
  if (!own || own->kind != NODE_PORT) return "";
  const char *inner = inst->instance->name, *name = decl->name;
  return decl->output
             ? arena_printf("; this module's own `%s` is another port: `%s.%s -> %s[*];`", name, inner, name, name)
             : arena_printf("; this module's own `%s` is another port: `%s[*] -> %s.%s;`", name, name, inner, name);
}

static void check_member(Inst *inst, const PortMember *member) {
  const char *name = member->port->name;
  if (!check_sparse(member, member->outer, false) || !check_sparse(member, member->inner, true)) return;
  int outside = (int)member->outer->len, inside = (int)member->inner->len;
  if (outside == 0 && is_joined(inst, member->decl)) return;
  if (outside == 0 && !member->decl->optional) {
    problem(inst->instance->location, "unconnected-port", "port `%s` of %s is not connected%s", name, inst_title(inst),
            own_port(inst, member->decl));
    diag_note(member->port->location, "declared here; `optional` would allow it");
    return;
  }
  if (inst_ends(inst) || inside == outside) return;
  if (inside == 0) {
    problem(member->port->location, "unconnected-port", "port `%s` is not connected inside module `%s`", name,
            inst->module->name);
    diag_note(inst->instance->location, "instantiated here");
    return;
  }
  problem(first_connection(member), "lane-count", "port `%s` of %s has %d connection%s outside and %d inside", name,
          inst_title(inst), outside, outside == 1 ? "" : "s", inside);
  diag_note(member->port->location, "declared here; `%s[*]` connects as many lanes as there are", member->decl->name);
}

static void check_bundle(Inst *inst, const PortDecl *decl) {
  const PortMember *first = decl->members->pdata[0];
  for (guint i = 1; i < decl->members->len; i++) {
    const PortMember *other = decl->members->pdata[i];
    if (other->outer->len == first->outer->len) continue;
    problem(inst->instance->location, "lane-count",
            "the members of the bundle `%s` of %s have different widths: `%s` has %u, `%s` has %u", decl->name,
            inst_title(inst), first->port->name, first->outer->len, other->port->name, other->outer->len);
    diag_note(decl->node->location, "declared here");
    return;
  }
}

void check_elaborated(void) {
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    compile->running = inst;
    for (guint p = 0; p < inst->port_list->len; p++) {
      PortDecl *decl = inst->port_list->pdata[p];
      bool any = false, unconnected = false;
      for (guint m = 0; m < decl->members->len; m++) {
        PortMember *member = decl->members->pdata[m];
        any |= joined(member->outer) > 0;
        unconnected |= joined(member->outer) == 0;
      }
      // A bundle that nothing is connected to is one defect, not one for each member.
      if (!any && is_joined(inst, decl)) continue;
      if (!any && !decl->optional && decl->members->len > 0) {
        problem(inst->instance->location, "unconnected-port", "port `%s` of %s is not connected%s", decl->name,
                inst_title(inst), own_port(inst, decl));
        diag_note(decl->node->location, "declared here; `optional` would allow it");
        continue;
      }
      int errors = diag_error_count();
      for (guint m = 0; m < decl->members->len; m++) check_member(inst, decl->members->pdata[m]);
      if (decl->is_bundle && any && !unconnected && errors == diag_error_count()) check_bundle(inst, decl);
    }
  }
  compile->running = NULL;
}

// ---- Behaviour ---------------------------------------------------------------------------------------------

// Who writes each lane of a signal.
static void check_writers(Inst *inst, SignalKind kind, Port *port, Local *local, int lanes, const char *text,
                          Location place) {
  g_autofree Function **writer = g_new0(Function *, (gsize)MAX(lanes, 1));
  bool twice = false;
  for (guint f = 0; f < inst->instance->functions->len; f++) {
    Function *function = inst->instance->functions->pdata[f];
    for (guint i = 0; i < function->writes->len; i++) {
      Signal *signal = &g_array_index(function->writes, Signal, i);
      if (signal->kind != kind || signal->port != port || signal->local != local || signal->lane >= lanes) continue;
      Function *other = writer[signal->lane];
      writer[signal->lane] = function;
      if (!other || twice) continue;
      twice = true;
      problem(function->location, "driven-twice", "`%s`%s is written by two functions", text,
              lanes > 1 ? arena_printf(" of lane %d", signal->lane) : "");
      diag_note(other->location, "the other one is here");
    }
  }
  for (int lane = 0; lane < lanes; lane++) {
    if (writer[lane]) continue;
    problem(place, "undriven", "no function writes `%s`%s", text, lanes > 1 ? arena_printf(" of lane %d", lane) : "");
    return;
  }
}

static bool mentions(const GArray *signals, SignalKind kind, const Port *port, const Local *local, int lane) {
  for (guint i = 0; i < signals->len; i++) {
    const Signal *signal = &g_array_index(signals, Signal, i);
    if (signal->kind == kind && signal->port == port && signal->local == local && (lane < 0 || signal->lane == lane))
      return true;
  }
  return false;
}

// Only a local can be both: of a port's signals, each is driven by one end and read by the other.
static void check_self_reads(Inst *inst) {
  for (guint f = 0; f < inst->instance->functions->len; f++) {
    Function *function = inst->instance->functions->pdata[f];
    for (guint i = 0; i < function->reads->len && !function->partial; i++) {
      const Signal *signal = &g_array_index(function->reads, Signal, i);
      if (signal->kind != SIGNAL_LOCAL) continue;
      if (!mentions(function->writes, SIGNAL_LOCAL, NULL, signal->local, signal->lane)) continue;
      problem(function->location, "signal", "`%s` reads `%s`, which it writes itself", function->name,
              signal->local->name);
      break;
    }
  }
}

static void check_driven(Inst *inst) {
  for (guint p = 0; p < inst->instance->ports->len; p++) {
    Port *port = inst->instance->ports->pdata[p];
    int width = (int)port->lanes->len;
    if (width == 0) continue;
    SignalKind kind = port->output ? SIGNAL_DATA : SIGNAL_ACK;
    check_writers(inst, kind, port, NULL, width, arena_printf("%s.%s", port->name, port->output ? "data" : "ack"),
                  port->location);
    if (port->drives_enable)
      check_writers(inst, SIGNAL_ENABLE, port, NULL, width, arena_printf("%s.enable", port->name), port->location);
  }
  for (guint i = 0; i < inst->instance->locals->len; i++) {
    Local *local = inst->instance->locals->pdata[i];
    check_writers(inst, SIGNAL_LOCAL, NULL, local, MAX(local->lanes, 1), local->name, local->location);
  }
}

// The inports on whose data, or enable, a function's results may depend, through locals too.
static void find_sources(Inst *inst, const Function *function, SignalKind kind, GHashTable *ports,
                         GHashTable *visited) {
  if (!g_hash_table_add(visited, (gpointer)function)) return;
  for (guint i = 0; i < function->reads->len; i++) {
    const Signal *signal = &g_array_index(function->reads, Signal, i);
    if (signal->kind == kind) g_hash_table_add(ports, signal->port);
    if (signal->kind != SIGNAL_LOCAL) continue;
    for (guint f = 0; f < inst->instance->functions->len; f++) {
      const Function *other = inst->instance->functions->pdata[f];
      if (mentions(other->writes, SIGNAL_LOCAL, NULL, signal->local, signal->lane))
        find_sources(inst, other, kind, ports, visited);
    }
  }
}

// A local lives within one cycle of one clock.
static void check_crossing_locals(Inst *inst) {
  for (guint l = 0; inst->instance->leaf->crossing && l < inst->instance->locals->len; l++) {
    const Local *local = inst->instance->locals->pdata[l];
    const Function *first = NULL;
    for (guint f = 0; f < inst->instance->functions->len; f++) {
      const Function *function = inst->instance->functions->pdata[f];
      bool named = false;
      for (int lane = 0; lane < MAX(local->lanes, 1) && !named; lane++)
        named = mentions(function->reads, SIGNAL_LOCAL, NULL, local, lane) ||
                mentions(function->writes, SIGNAL_LOCAL, NULL, local, lane);
      if (!named) continue;
      if (first && first->clock != function->clock) {
        problem(function->location, "clock-crossing", "the local `%s` is used in two clock domains, `%s` and `%s`",
                local->name, first->clock->name, function->clock->name);
        diag_note(first->location, "the other function is here");
        break;
      }
      first = function;
    }
  }
}

// An instant is a cycle of one clock; items of a flight arrive at ticks, of which other modules know nothing.
static void check_crossing_kinds(Inst *inst) {
  for (guint i = 0; i < inst->instance->state->len; i++) {
    const StateField *field = inst->instance->state->pdata[i];
    if (field->kind == STATE_FLIGHT && !inst->instance->leaf->crossing)
      problem(field->location, "state-kind",
              "only a crossing has flights; keep the items of `%s` in an array, with stamps", field->name);
    if (field->kind == STATE_INSTANT && inst->instance->leaf->crossing)
      problem(field->location, "state-kind", "a crossing has no instants: its functions run on several clocks");
  }
}

static bool enable_derived(Inst *inst, const Port *output, const Function *sender, GHashTable *sources) {
  g_autoptr(GHashTable) enables = g_hash_table_new(NULL, NULL);
  g_autoptr(GHashTable) visited = g_hash_table_new(NULL, NULL);
  for (guint f = 0; f < inst->instance->functions->len; f++) {
    const Function *function = inst->instance->functions->pdata[f];
    if (!mentions(function->writes, SIGNAL_ENABLE, output, NULL, -1)) continue;
    // What is always enabled must itself be sent only when its source is.
    find_sources(inst, function->kind == FUNCTION_ALWAYS ? sender : function, SIGNAL_ENABLE, enables, visited);
  }
  GHashTableIter iter;
  gpointer port;
  g_hash_table_iter_init(&iter, sources);
  while (g_hash_table_iter_next(&iter, &port, NULL))
    if (g_hash_table_contains(enables, port)) return true;
  return false;
}

// The connections whose sender commits whatever is accepted, in every cycle: it says so itself, or its enable follows
// an acknowledgment that is always given.
static GHashTable *never_cancelled(void) {
  GHashTable *sure = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < compile->insts->len; i++) {
    const Instance *instance = ((Inst *)compile->insts->pdata[i])->instance;
    for (guint f = 0; f < instance->functions->len; f++) {
      const Function *function = instance->functions->pdata[f];
      for (guint w = 0; function->kind == FUNCTION_ALWAYS && w < function->writes->len; w++) {
        const Signal *signal = &g_array_index(function->writes, Signal, w);
        Connection *connection = signal->port->lanes->pdata[signal->lane];
        if (signal->kind == SIGNAL_ENABLE || !connection->from->drives_enable) g_hash_table_add(sure, connection);
      }
    }
  }
  return sure;
}

// The first connection to one of these inports on which an item may be cancelled, or NULL.
static const Connection *cancellable(GHashTable *ports, GHashTable *sure) {
  const Connection *first = NULL;
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, ports);
  while (g_hash_table_iter_next(&iter, &key, NULL)) {
    const Port *port = key;
    for (guint lane = 0; lane < port->lanes->len && (!first || port->id < first->to->id); lane++)
      if (!g_hash_table_contains(sure, port->lanes->pdata[lane])) first = port->lanes->pdata[lane];
  }
  return first;
}

// An item that passes through within the cycle is committed only if its sender commits it.
static void check_enable(Inst *inst, GHashTable *sure) {
  for (guint p = 0; p < inst->instance->ports->len; p++) {
    Port *output = inst->instance->ports->pdata[p];
    if (!output->output || output->lanes->len == 0) continue;
    for (guint f = 0; f < inst->instance->functions->len; f++) {
      const Function *function = inst->instance->functions->pdata[f];
      if (!mentions(function->writes, SIGNAL_DATA, output, NULL, -1)) continue;
      g_autoptr(GHashTable) sources = g_hash_table_new(NULL, NULL);
      g_autoptr(GHashTable) visited = g_hash_table_new(NULL, NULL);
      find_sources(inst, function, SIGNAL_DATA, sources, visited);
      const Connection *doubtful = cancellable(sources, sure);
      if (!doubtful || enable_derived(inst, output, function, sources)) continue;
      problem(
          function->location, "missing-enable",
          "`%s` passes data from `%s` to `%s` within the cycle, but no handler derives `%s.enable` from `%s.enable`",
          function->name, doubtful->to->name, output->name, output->name, doubtful->to->name);
      diag_note(output->location, "`%s` is declared here", output->name);
      diag_note(doubtful->from->location, "`%s` of %s, which sends to it, does not say `always %s.enable`",
                doubtful->from->name, doubtful->from->instance->path, doubtful->from->name);
      break;
    }
  }
}

void check_netlist(void) {
  check_parts();
  g_autoptr(GHashTable) sure = never_cancelled();
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    if (!inst->instance->leaf) continue;
    compile->running = inst;
    check_driven(inst);
    check_self_reads(inst);
    check_crossing_locals(inst);
    check_crossing_kinds(inst);
    check_cut(inst);
    check_enable(inst, sure);
  }
  compile->running = NULL;
}
