// Joining: connections as written become pairs of port members, and chains of them through hierarchical modules become
// connections between leaf ports.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"

#include <string.h>

static const char *end_text(const End *end) {
  const char *port = end->member ? arena_printf("%s.%s", end->port, end->member) : end->port;
  return end->own ? port : arena_printf("%s.%s", end->inst->instance->name, port);
}

static PortDecl *find_port(const End *end) {
  Inst *inst = end->inst;
  PortDecl *decl = find_declared_port(inst, end->port);
  if (decl) return decl;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < inst->port_list->len; i++)
    g_ptr_array_add(names, (gpointer)((PortDecl *)inst->port_list->pdata[i])->name);
  const char *near = diag_suggestion(end->port, names);
  for (guint i = 0; i < inst->instance->parameters->len; i++) {
    if (strcmp(((Parameter *)inst->instance->parameters->pdata[i])->name, end->port) != 0) continue;
    problem(end->place, "unknown-port", "`%s` is a parameter of module `%s`, not a port", end->port,
            inst->module->name);
    diag_note(((Parameter *)inst->instance->parameters->pdata[i])->location, "declared here");
    return NULL;
  }
  problem(end->place, "unknown-port", "module `%s` has no port `%s`%s", inst->module->name, end->port,
          did_you_mean(near));
  diag_note(inst->module->place, "declared here");
  return NULL;
}

// The members that an end names, with their names relative to it.
static GPtrArray *members_of(const End *end, PortDecl *decl, GPtrArray *names) {
  GPtrArray *found = arena_array();
  gsize n = end->member ? strlen(end->member) : 0;
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (guint i = 0; i < decl->members->len; i++) {
    PortMember *member = decl->members->pdata[i];
    const char *path = member->path ? member->path : "";
    g_ptr_array_add(known, (gpointer)path);
    if (end->member && (strncmp(path, end->member, n) != 0 || (path[n] != '\0' && path[n] != '.'))) continue;
    g_ptr_array_add(found, member);
    g_ptr_array_add(names, (gpointer)(end->member ? (path[n] ? path + n + 1 : "") : path));
  }
  if (found->len > 0 || !end->member) return found;
  if (decl->is_bundle)
    problem(end->place, "unknown-port", "the bundle `%s` has no member `%s`%s", decl->bundle, end->member,
            did_you_mean(diag_suggestion(end->member, known)));
  else
    problem(end->place, "unknown-port", "the port `%s` is not a bundle; it has no member `%s`", decl->name,
            end->member);
  diag_note(decl->node->location, "declared here");
  return NULL;
}

static bool place_joint(GPtrArray *lanes, int lane, Joint *joint, const End *end, bool source) {
  if (lane >= (int)lanes->len) g_ptr_array_set_size(lanes, lane + 1);
  Joint *other = lanes->pdata[lane];
  if (other) {
    if (source)
      problem(joint->link->location, "feeds-twice",
              "lane %d of `%s` is connected twice; a tee sends an item to several receivers", lane, end_text(end));
    else
      problem(joint->link->location, "driven-twice", "lane %d of `%s` is driven by two connections", lane,
              end_text(end));
    diag_note(other->link->location, "the other connection is here");
    return false;
  }
  lanes->pdata[lane] = joint;
  return true;
}

static bool is_source(bool output, bool own) {
  return output != own;
}

static const char *role(bool own, bool output) {
  return arena_printf("%s %s", own ? "the module's own" : "an", output ? "outport" : "inport");
}

static bool check_direction(const Link *link, PortDecl *from, PortDecl *to, bool from_output, bool to_output) {
  bool left = is_source(from_output, link->from.own), right = is_source(to_output, link->to.own);
  if (left && !right) return true;
  if (!left && right) {
    problem(link->location, "direction",
            "this connection is the wrong way round: `%s` is %s, `%s` %s; write `%s -> %s`", end_text(&link->from),
            role(link->from.own, from_output), end_text(&link->to), role(link->to.own, to_output), end_text(&link->to),
            end_text(&link->from));
  } else {
    problem(link->location, "direction", "`%s` is %s and `%s` is %s; both %s", end_text(&link->from),
            role(link->from.own, from_output), end_text(&link->to), role(link->to.own, to_output),
            left ? "send" : "receive");
  }
  diag_note(from->node->location, "`%s` is declared here", from->name);
  diag_note(to->node->location, "`%s` is declared here", to->name);
  return false;
}

static const char *shape(PortDecl *decl, const End *end) {
  return decl->is_bundle && !end->member ? arena_printf("a bundle `%s`", decl->bundle)
         : decl->is_bundle               ? "part of a bundle"
                                         : "a plain port";
}

static void clash(const Link *link, PortDecl *from, PortDecl *to) {
  problem(link->location, "type-clash", "`%s` is %s, `%s` is %s", end_text(&link->from), shape(from, &link->from),
          end_text(&link->to), shape(to, &link->to));
  diag_note(from->node->location, "`%s` is declared here", from->name);
  diag_note(to->node->location, "`%s` is declared here", to->name);
}

static void draw(const Link *link, bool swapped) {
  DrawnConnection *drawn = arena_new(DrawnConnection);
  const End *from = swapped ? &link->to : &link->from, *to = swapped ? &link->from : &link->to;
  *drawn = (DrawnConnection){link->level->instance,
                             from->inst->instance,
                             to->inst->instance,
                             from->port,
                             to->port,
                             from->lane,
                             to->lane,
                             lane_key(from->inst, from->port, from->member, from->lane),
                             lane_key(to->inst, to->port, to->member, to->lane),
                             link->location};
  g_ptr_array_add(compile->netlist->drawn, drawn);
}

static void join(Link *link) {
  PortDecl *from = find_port(&link->from), *to = find_port(&link->to);
  if (!from || !to) return;
  g_autoptr(GPtrArray) from_names = g_ptr_array_new();
  g_autoptr(GPtrArray) to_names = g_ptr_array_new();
  GPtrArray *left = members_of(&link->from, from, from_names);
  GPtrArray *right = members_of(&link->to, to, to_names);
  if (!left || !right || left->len == 0 || right->len == 0) return;
  // A member named by itself has its own direction; a whole bundle has that of its port.
  bool from_output = link->from.member && left->len == 1 ? ((PortMember *)left->pdata[0])->port->output : from->output;
  bool to_output = link->to.member && right->len == 1 ? ((PortMember *)right->pdata[0])->port->output : to->output;
  if (!check_direction(link, from, to, from_output, to_output)) return;
  if (left->len != right->len || (from->is_bundle && !link->from.member) != (to->is_bundle && !link->to.member)) {
    bool both_one = left->len == 1 && right->len == 1 && !*(char *)from_names->pdata[0] && !*(char *)to_names->pdata[0];
    if (!both_one) {
      clash(link, from, to);
      return;
    }
  }
  if (link->annotation && left->len > 1) {
    problem(link->location, "type-clash", "a connection of bundles has no single type to annotate");
    link->annotation = NULL;
  }
  for (guint i = 0; i < left->len; i++) {
    PortMember *a = left->pdata[i], *b = NULL;
    for (guint k = 0; k < right->len && !b; k++)
      if (!strcmp(to_names->pdata[k], from_names->pdata[i])) b = right->pdata[k];
    if (!b || is_source(a->port->output, link->from.own) == is_source(b->port->output, link->to.own)) {
      clash(link, from, to);
      return;
    }
    bool forward = is_source(a->port->output, link->from.own);
    Joint *at_a = arena_new(Joint), *at_b = arena_new(Joint);
    *at_a = (Joint){b, link->to.own, link->to.lane, link};
    *at_b = (Joint){a, link->from.own, link->from.lane, link};
    if (!place_joint(link->from.own ? a->inner : a->outer, link->from.lane, at_a, &link->from, forward)) return;
    if (!place_joint(link->to.own ? b->inner : b->outer, link->to.lane, at_b, &link->to, !forward)) return;
    Pair *pair = arena_new(Pair);
    *pair = forward ? (Pair){a, b, link} : (Pair){b, a, link};
    g_ptr_array_add(compile->pairs, pair);
  }
  draw(link, false);
}

void join_links(void) {
  for (guint i = 0; i < compile->links->len; i++) {
    Link *link = compile->links->pdata[i];
    compile->running = link->level;
    join(link);
  }
  compile->running = NULL;
}

// ---- Through the hierarchy ---------------------------------------------------------------------------------

static bool is_leaf(const PortMember *member) {
  return inst_ends(member->decl->inst);
}

static Passage *passage_of(const PortMember *member, int lane) {
  Passage *passage = arena_new(Passage);
  g_autofree char *name = port_lane_text_of(member->port, lane, MAX(member->inner->len, member->outer->len));
  Instance *instance = member->decl->inst->instance;
  *passage = (Passage){instance, member->port, arena_printf("%s.%s", instance->path, name), lane};
  return passage;
}

// The leaf inport that a lane of a leaf outport ends at, or NULL where a chain is broken (reported elsewhere).  The
// connection was made where the outermost link of the chain is written.
static PortMember *follow(PortMember *member, int lane, int *end_lane, Location *where, GPtrArray *passages) {
  Joint *joint = lane < (int)member->outer->len ? member->outer->pdata[lane] : NULL;
  const Link *outermost = NULL;
  while (joint) {
    if (!outermost || joint->link->level->depth < outermost->level->depth) outermost = joint->link;
    *where = outermost->location;
    PortMember *next = joint->member;
    if (!joint->inside && is_leaf(next)) {
      *end_lane = joint->lane;
      return next;
    }
    // Out of the module through its own port, or into a hierarchical child.
    g_ptr_array_add(passages, passage_of(next, joint->lane));
    GPtrArray *lanes = joint->inside ? next->outer : next->inner;
    joint = joint->lane < (int)lanes->len ? lanes->pdata[joint->lane] : NULL;
  }
  return NULL;
}

void make_connections(void) {
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    if (!inst_ends(inst)) continue;
    for (guint p = 0; p < inst->port_list->len; p++) {
      PortDecl *decl = inst->port_list->pdata[p];
      for (guint m = 0; m < decl->members->len; m++) {
        PortMember *member = decl->members->pdata[m];
        g_ptr_array_set_size(member->port->lanes, (int)member->outer->len);
      }
    }
  }
  for (guint i = 0; i < compile->insts->len; i++) {
    Inst *inst = compile->insts->pdata[i];
    if (!inst_ends(inst)) continue;
    for (guint p = 0; p < inst->instance->ports->len; p++) {
      Port *port = inst->instance->ports->pdata[p];
      if (!port->output) continue;
      PortDecl *decl = NULL;
      PortMember *member = NULL;
      for (guint d = 0; d < inst->port_list->len && !member; d++) {
        decl = inst->port_list->pdata[d];
        for (guint m = 0; m < decl->members->len; m++)
          if (((PortMember *)decl->members->pdata[m])->port == port) member = decl->members->pdata[m];
      }
      for (guint lane = 0; member && lane < port->lanes->len; lane++) {
        int to_lane;
        Location where = port->location;
        GPtrArray *passages = arena_array();
        PortMember *end = follow(member, (int)lane, &to_lane, &where, passages);
        if (!end || to_lane >= (int)end->port->lanes->len) continue;
        Connection *connection = arena_new(Connection);
        *connection =
            (Connection){port,  end->port, (int)lane, to_lane, port->type, (int)compile->netlist->connections->len,
                         false, where,     passages};
        g_ptr_array_add(compile->netlist->connections, connection);
        port->lanes->pdata[lane] = connection;
        end->port->lanes->pdata[to_lane] = connection;
      }
    }
  }
}
