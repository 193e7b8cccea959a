// The borders of parts.  A part of a network may be a process of its own: it has ports of concrete types, and what its
// ports are connected to outside are crossings that can be cut.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

Part *part_new(Inst *inst) {
  Part *part = arena_new(Part);
  *part = (Part){inst->instance, inst->instance, arena_array()};
  g_ptr_array_add(compile->netlist->parts, part);
  return part;
}

// The part that an instance is or is in, the outermost; NULL outside of all.
static const Instance *part_of(GHashTable *parts, const Instance *instance) {
  const Instance *part = NULL;
  for (; instance; instance = instance->parent)
    if (g_hash_table_contains(parts, instance)) part = instance;
  return part;
}

static bool can_be_cut(const Instance *instance) {
  return instance->leaf && instance->leaf->crossing && instance->cut;
}

static const char *end_of(const Port *port) {
  return *port->instance->path ? port->instance->path : "top";
}

static void check_connection(GHashTable *parts, const Connection *connection) {
  const Instance *from = part_of(parts, connection->from->instance), *to = part_of(parts, connection->to->instance);
  if (from == to) return;
  const Port *outside = from ? connection->to : connection->from;
  const Instance *part = from ? from : to;
  if (!(from && to) && can_be_cut(outside->instance)) return;
  if (from && to)
    diag_error(connection->location, "part-border",
               "the parts `%s` and `%s` of a network are connected without a crossing that can be cut", from->path,
               to->path);
  else if (outside->instance->leaf && outside->instance->leaf->crossing)
    diag_error(connection->location, "part-border",
               "`%s` is a part of a network, and the crossing `%s` does not say by `cut` how long it takes", part->path,
               end_of(outside));
  else
    diag_error(connection->location, "part-border",
               "`%s` is a part of a network, and `%s`, outside of it, is no crossing that can be cut", part->path,
               end_of(outside));
  diag_note(part->location, "`%s` is made here", part->path);
  if (from && to)
    diag_note(to->location, "`%s` is made here", to->path);
  else if (outside->instance->leaf && outside->instance->leaf->crossing)
    diag_note(outside->instance->location, "`%s` is made here", end_of(outside));
  else
    diag_note(outside->instance->location, "`%s` is made here; `part instance` would make a part of it",
              end_of(outside));
}

void check_parts(void) {
  g_autoptr(GHashTable) parts = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < compile->insts->len; i++) {
    const Inst *inst = compile->insts->pdata[i];
    if (inst->part) g_hash_table_add(parts, inst->instance);
  }
  if (!g_hash_table_size(parts)) return;
  for (guint i = 0; i < compile->insts->len && !compile->options->parts; i++) {
    Inst *inst = compile->insts->pdata[i];
    if (part_of(parts, inst->instance) == inst->instance) part_new(inst);
  }
  for (guint i = 0; i < compile->netlist->connections->len; i++)
    check_connection(parts, compile->netlist->connections->pdata[i]);
}

void check_part_ports(Inst *inst) {
  for (guint p = 0; inst->part && p < inst->port_list->len; p++) {
    const PortDecl *decl = inst->port_list->pdata[p];
    for (guint m = 0; m < decl->members->len; m++) {
      const PortMember *member = decl->members->pdata[m];
      if (!member->term || term_type(term_find(member->term))) continue;
      problem(decl->node->location, "part-border", "the port `%s` of a part of a network has one type, not %s",
              member->port->name, term_text(member->term));
      diag_note(inst->instance->location, "the part is made here");
    }
  }
}
