// What the sums of balances count: items that were transferred at ports, what these items say, and events.
#include "lss/attach/balance.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

// ---- Ports ---------------------------------------------------------------------------------------------------------

// The member of a bundle with this path, or the port that is none; NULL when there is none.
static Port *member_port(const PortDecl *decl, const char *path) {
  for (guint i = 0; i < decl->members->len; i++) {
    const PortMember *one = decl->members->pdata[i];
    if (!strcmp(one->path ? one->path : "", path)) return one->port;
  }
  return NULL;
}

static void unknown_port(Inst *inst, const Expr *expr) {
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (guint i = 0; i < inst->port_list->len; i++)
    g_ptr_array_add(known, (gpointer)((PortDecl *)inst->port_list->pdata[i])->name);
  const char *text = expr_text(expr);
  problem(expr->location, "conservation", "`%s` is no port of this module%s", text,
          did_you_mean(diag_suggestion(text, known)));
}

// The port that a path begins with, and its lane as written; `rest` is the first part that belongs to its items.
static Port *find_port(Inst *inst, Expr *expr, const GPtrArray *parts, const Expr **lane, guint *rest) {
  PortDecl *decl = parts ? find_declared_port(inst, ((Expr *)parts->pdata[0])->text) : NULL;
  *lane = NULL;
  if (!decl) {
    unknown_port(inst, expr);
    return NULL;
  }
  const char *path = "";
  Port *port = member_port(decl, path);
  bool indexed = false;
  guint i = 1;
  for (; i < parts->len; i++) {
    const Expr *part = parts->pdata[i];
    if (part->kind == EXPR_FIELD) {
      if (port) break;
      path = arena_printf("%s%s%s", path, *path ? "." : "", part->text);
      port = member_port(decl, path);
    } else {
      if (indexed) break;
      indexed = true;
      if (part->kind == EXPR_INDEX) *lane = part->right;
    }
  }
  *rest = i;
  if (port) return port;
  problem(expr->location, "conservation", "`%s` is a bundle: name a member of it, such as `%s.%s`", expr_text(expr),
          decl->name, decl->members->len ? ((PortMember *)decl->members->pdata[0])->path : "request");
  diag_note(decl->node->location, "declared here");
  return NULL;
}

Port *balance_port(Inst *inst, Expr *expr, const Expr **lane, bool member) {
  g_autoptr(GPtrArray) parts = balance_parts(expr);
  guint rest = 0;
  PortDecl *decl = parts && parts->len == 1 && !member ? find_declared_port(inst, expr->text) : NULL;
  *lane = NULL;
  if (decl && decl->members->len) return ((PortMember *)decl->members->pdata[0])->port;
  Port *port = find_port(inst, expr, parts, lane, &rest);
  if (!port || rest == parts->len) return port;
  problem(expr->location, "conservation",
          "items are accounted for, not what they say: `%s` has its place in an identity, `identity %s == …;`",
          expr_text(expr), expr_text(expr));
  return NULL;
}

// The part of an item whose value counts, in place of the item itself.
static bool weigh(Scope *scope, const Expr *expr, const GPtrArray *parts, guint at, BalancePlace *place) {
  for (; at < parts->len; at++) {
    const Expr *part = parts->pdata[at];
    if (part->kind == EXPR_FIELD) {
      if (!balance_member(part, place)) return false;
    } else if (place->type->kind != TYPE_ARRAY) {
      problem(part->location, "value-type", "`%s` has fewer dimensions", expr_text(expr));
      return false;
    } else {
      const int length = place->type->length;
      place->type = place->type->element;
      if (!balance_element(scope, part, place, length, type_size(place->type, NULL))) return false;
    }
  }
  place->step.type = place->type;
  if (type_is_whole_number(place->type)) return true;
  problem(expr->location, "value-type", "a sum is made of whole numbers: `%s` is %s", expr_text(expr),
          place->type->name);
  return false;
}

bool balance_items(Scope *scope, Inst *inst, Expr *expr, bool adds, GArray *steps) {
  g_autoptr(GPtrArray) parts = balance_parts(expr);
  const Expr *lane;
  guint rest = 0;
  Port *port = find_port(inst, expr, parts, &lane, &rest);
  int64_t first = 0, count = port ? (int64_t)port->lanes->len : 0;
  if (!port || (lane && !evaluate_int(scope, (Expr *)lane, "the lane", 0, count - 1, &first))) return false;
  BalancePlace place = {.step = {.kind = 'p', .port = port}, .type = port->type};
  place.step.first = (guint)first;
  place.step.count = lane ? 1 : (guint)count;
  // The type of what is not connected may be unknown, and nothing is transferred there.
  if ((adds || rest < parts->len) && count > 0 && !weigh(scope, expr, parts, rest, &place)) return false;
  balance_append(steps, &place);
  return true;
}

// ---- Events --------------------------------------------------------------------------------------------------------

// Which argument of an event adds up; -1: the times it is emitted are counted; -2, after an error: none of the two.
static int argument_of(const Event *event, const GPtrArray *parts, guint at) {
  const Expr *part = parts->len == at + 2 ? parts->pdata[at + 1] : NULL;
  if (parts->len == at + 1) return -1;
  for (guint i = 0; part && part->kind == EXPR_FIELD && i < event->arguments->len; i++) {
    const Field *argument = event->arguments->pdata[i];
    if (!strcmp(argument->name, part->text) && type_is_whole_number(argument->type)) return (int)i;
  }
  const Expr *last = parts->pdata[parts->len - 1];
  problem(last->location, "unknown-name", "`%s` is no argument of the event `%s` that is a whole number",
          expr_text(last), event->name);
  return -2;
}

bool balance_event(Instance *instance, const GPtrArray *parts, guint at, GArray *steps) {
  Event *event = find_event(instance, ((Expr *)parts->pdata[at])->text);
  const int argument = argument_of(event, parts, at);
  if (argument == -2) return false;
  if (!event->tallied) event->tallied = arena_garray(sizeof(EventTally));
  BalanceStep step = {.kind = 'e', .instance = instance, .event = event, .number = -1};
  for (guint i = 0; i < event->tallied->len; i++) {
    const EventTally *known = &g_array_index(event->tallied, EventTally, i);
    if (known->argument == argument) step.number = known->number;
  }
  if (step.number < 0) {
    const EventTally tally = {argument, instance->tallies++};
    g_array_append_val(event->tallied, tally);
    step.number = tally.number;
  }
  g_array_append_val(steps, step);
  return true;
}
