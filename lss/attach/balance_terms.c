// The sums of balances: statistics and other state with indices, members and `[*]` for all elements, items that were
// transferred at ports, cycles and numbers.
#include "lss/attach/balance.h"
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"

#include <string.h>

void balance_operator(GArray *steps, int operator) {
  const BalanceStep step = {.kind = 'o', .operator = operator};
  g_array_append_val(steps, step);
}

static bool add_number(GArray *steps, int64_t number) {
  const BalanceStep step = {.kind = 'n', .number = number};
  g_array_append_val(steps, step);
  return true;
}

// The parts of a path from its name on: EXPR_NAME, then EXPR_FIELD, EXPR_INDEX and EXPR_INDEX_ALL.  NULL: it is none.
static GPtrArray *parts_of(Expr *expr) {
  GPtrArray *parts = g_ptr_array_new();
  for (; expr; expr = expr->kind == EXPR_NAME ? NULL : expr->left) {
    const bool part =
        expr->kind == EXPR_NAME || expr->kind == EXPR_FIELD || expr->kind == EXPR_INDEX || expr->kind == EXPR_INDEX_ALL;
    if (!part) {
      g_ptr_array_free(parts, TRUE);
      return NULL;
    }
    g_ptr_array_insert(parts, 0, expr);
  }
  return parts;
}

// ---- Ports ---------------------------------------------------------------------------------------------------------

static PortDecl *declared_port(const Inst *inst, const GPtrArray *parts) {
  return parts ? find_declared_port(inst, ((Expr *)parts->pdata[0])->text) : NULL;
}

static Port *member_port(const PortDecl *decl, const char *path, bool member) {
  for (guint i = 0; i < decl->members->len; i++) {
    const PortMember *one = decl->members->pdata[i];
    if (!strcmp(one->path ? one->path : "", path) || (!member && !*path)) return one->port;
  }
  return NULL;
}

Port *balance_port(Inst *inst, Expr *expr, const Expr **lane, bool member) {
  g_autoptr(GPtrArray) parts = parts_of(expr);
  PortDecl *decl = declared_port(inst, parts);
  *lane = NULL;
  if (!decl) {
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (guint i = 0; i < inst->port_list->len; i++)
      g_ptr_array_add(known, (gpointer)((PortDecl *)inst->port_list->pdata[i])->name);
    const char *text = expr_text(expr);
    problem(expr->location, "conservation", "`%s` is no port of this module%s", text,
            did_you_mean(diag_suggestion(text, known)));
    return NULL;
  }
  const char *path = "";
  for (guint i = 1; i < parts->len; i++) {
    const Expr *part = parts->pdata[i];
    if (part->kind == EXPR_FIELD)
      path = arena_printf("%s%s%s", path, *path ? "." : "", part->text);
    else if (part->kind == EXPR_INDEX)
      *lane = part->right;
  }
  Port *port = member_port(decl, path, member);
  if (!port) {
    problem(expr->location, "conservation", "`%s` is a bundle: name a member of it, such as `%s.%s`", expr_text(expr),
            decl->name, decl->members->len ? ((PortMember *)decl->members->pdata[0])->path : "request");
    diag_note(decl->node->location, "declared here");
  }
  return port;
}

static bool add_transferred(Scope *scope, const Balance *balance, Inst *inst, Expr *expr, GArray *steps) {
  const Expr *lane;
  Port *port = balance_port(inst, expr, &lane, true);
  int64_t first = 0, count = port ? (int64_t)port->lanes->len : 0;
  if (!port || (lane && !evaluate_int(scope, (Expr *)lane, "the lane", 0, count - 1, &first))) return false;
  (void)balance;
  const BalanceStep step = {
      .kind = 'p', .port = port, .connections = port->lanes, .first = (guint)first, .count = lane ? 1 : (guint)count};
  g_array_append_val(steps, step);
  return true;
}

// ---- State ---------------------------------------------------------------------------------------------------------

// A place in the state that is being found: where it is, how often it is there, and of which type it is.
typedef struct {
  BalanceStep step;
  Type *type;
} Place;

// One index or star over `length` elements of `size` bytes.
static bool select_element(Scope *scope, const Expr *part, Place *place, int length, gsize size) {
  int64_t n;
  if (part->kind == EXPR_INDEX_ALL) {
    if (place->step.range_count == BALANCE_RANGES) {
      problem(part->location, "value-type", "a sum goes over %d dimensions at most", BALANCE_RANGES);
      return false;
    }
    place->step.ranges[place->step.range_count++] = (BalanceRange){size, (guint64)length};
    return true;
  }
  if (!evaluate_int(scope, part->right, "the index", 0, length - 1, &n)) return false;
  place->step.offset += (guint64)n * size;
  return true;
}

static bool select_member(const Expr *part, Place *place) {
  gsize offset = 0;
  for (guint i = 0; place->type->kind == TYPE_STRUCT && i < place->type->fields->len; i++) {
    const Field *field = place->type->fields->pdata[i];
    gsize alignment;
    const gsize size = type_size(field->type, &alignment);
    offset = (offset + alignment - 1) / alignment * alignment;
    if (!strcmp(field->name, part->text)) {
      place->step.offset += offset;
      place->type = field->type;
      return true;
    }
    offset += size;
  }
  problem(part->place, "unknown-name", "%s has no member `%s`", place->type->name, part->text);
  return false;
}

// The elements of a field that the rest of a path means, from its part `at` on.
static bool add_field(Scope *scope, Instance *holder, StateField *field, const GPtrArray *parts, guint at,
                      GArray *steps) {
  const Expr *last = parts->pdata[parts->len - 1];
  Place place = {.step = {.kind = 'f', .instance = holder, .field = field}, .type = field->type};
  guint64 below = type_size(field->type, NULL);
  for (guint d = 0; d < field->dimensions->len; d++) below *= (guint64)MAX(g_array_index(field->dimensions, int, d), 1);
  guint dimension = 0;
  for (; at < parts->len; at++) {
    const Expr *part = parts->pdata[at];
    const bool indexes = part->kind != EXPR_FIELD;
    if (indexes && dimension < field->dimensions->len) {
      const int length = g_array_index(field->dimensions, int, dimension++);
      below /= (guint64)MAX(length, 1);
      if (!select_element(scope, part, &place, length, below)) return false;
    } else if (indexes && place.type->kind == TYPE_ARRAY) {
      const int length = place.type->length;
      place.type = place.type->element;
      if (!select_element(scope, part, &place, length, type_size(place.type, NULL))) return false;
    } else if (indexes || !select_member(part, &place)) {
      if (indexes) problem(part->location, "value-type", "`%s` has fewer dimensions", field->name);
      return false;
    }
  }
  const bool rings = field->kind == STATE_TRACE && field->dimensions->len;
  if (field->kind == STATE_INSTANT || field->kind == STATE_STAMP || rings || !type_is_whole_number(place.type) ||
      dimension < field->dimensions->len) {
    problem(last->location, "value-type", "a sum is made of whole numbers: `%s` is %s", field->name,
            dimension < field->dimensions->len ? "an array, of which `[*]` means all elements"
            : field->kind == STATE_INSTANT     ? "an instant"
            : field->kind == STATE_STAMP       ? "a stamp"
            : rings                            ? "a trace"
                                               : place.type->name);
    return false;
  }
  place.step.type = place.type;
  g_array_append_val(steps, place.step);
  return true;
}

static Instance *child_of(const Instance *from, const char *name) {
  for (guint c = 0; c < from->children->len; c++)
    if (!strcmp(((Instance *)from->children->pdata[c])->name, name)) return from->children->pdata[c];
  return NULL;
}

typedef enum { PATH_NONE, PATH_ADDED, PATH_WRONG } Path;

static Path add_path(Scope *scope, Instance *from, const GPtrArray *parts, guint at, GArray *steps);

// One of an array of instances, or the sum over all.
static Path add_indexed(Scope *scope, Instance *from, const GPtrArray *parts, guint at, GArray *steps) {
  const char *name = ((Expr *)parts->pdata[at])->text;
  const Expr *index = parts->pdata[at + 1];
  int64_t n;
  if (index->kind == EXPR_INDEX) {
    if (!child_of(from, arena_printf("%s[0]", name))) return PATH_NONE;
    if (!evaluate_int(scope, index->right, "the index", 0, G_MAXINT32, &n)) return PATH_WRONG;
    Instance *child = child_of(from, arena_printf("%s[%d]", name, (int)n));
    return child ? add_path(scope, child, parts, at + 2, steps) : PATH_NONE;
  }
  for (int i = 0;; i++) {
    Instance *child = child_of(from, arena_printf("%s[%d]", name, i));
    if (!child) return i ? PATH_ADDED : PATH_NONE;
    const Path path = add_path(scope, child, parts, at + 2, steps);
    if (path != PATH_ADDED) return path;
    if (i) balance_operator(steps, '+');
  }
}

// The state that a path means, from its part `at` on, which is a name.
static Path add_path(Scope *scope, Instance *from, const GPtrArray *parts, guint at, GArray *steps) {
  if (at >= parts->len) return PATH_NONE;
  const char *name = ((Expr *)parts->pdata[at])->text;
  if (from->leaf) {
    StateField *field = instance_find_state(from, name);
    if (!field) return PATH_NONE;
    return add_field(scope, from, field, parts, at + 1, steps) ? PATH_ADDED : PATH_WRONG;
  }
  const bool indexed = at + 1 < parts->len && ((Expr *)parts->pdata[at + 1])->kind != EXPR_FIELD;
  if (indexed) return add_indexed(scope, from, parts, at, steps);
  Instance *child = child_of(from, name);
  return child ? add_path(scope, child, parts, at + 1, steps) : PATH_NONE;
}

// ---- Expressions ---------------------------------------------------------------------------------------------------

static bool constant(Scope *scope, Expr *expr, int64_t *number) {
  const Value *value = evaluate(scope, expr);
  if (!value) return false;
  *number = value->integer;
  if (value->kind == VALUE_INT || value->kind == VALUE_BOOL || value->kind == VALUE_ENUM) return true;
  problem(expr->location, "value-type", "a sum is made of whole numbers: `%s` is %s", expr_text(expr),
          value_kind_text(value));
  return false;
}

static bool add_reference(Scope *scope, Balance *balance, Expr *expr, GArray *steps) {
  g_autoptr(GPtrArray) parts = parts_of(expr);
  if (!parts) {
    problem(expr->location, "value-type", "a path in a sum begins with a name");
    return false;
  }
  const char *name = ((Expr *)parts->pdata[0])->text;
  const Path path = add_path(scope, balance->instance, parts, 0, steps);
  if (path != PATH_NONE) return path == PATH_ADDED;
  Inst *inst = compile->running;
  if (inst->instance->leaf && declared_port(inst, parts)) return add_transferred(scope, balance, inst, expr, steps);
  if (parts->len == 1 && !strcmp(name, "cycles")) {
    const BalanceStep step = {.kind = 'c', .instance = balance->instance};
    g_array_append_val(steps, step);
    return true;
  }
  int64_t number;
  const Symbol *symbol = scope_find(scope, name);
  if (symbol && (symbol->kind == SYMBOL_VALUE || symbol->kind == SYMBOL_DECLARATION))
    return constant(scope, expr, &number) && add_number(steps, number);
  problem(expr->location, "unknown-name", "%s has no state, statistic or port `%s`",
          *balance->instance->path ? balance->instance->path : "the machine", expr_text(expr));
  return false;
}

static bool is_comparison(int op) {
  return op == OP_EQ || op == OP_NE || op == OP_LE || op == OP_GE || op == '<' || op == '>';
}

// `state[*] != idle`: how many elements are so.
static bool add_comparison(Scope *scope, Balance *balance, Expr *expr, GArray *steps) {
  int64_t number;
  const guint before = steps->len;
  if (!balance_add(scope, balance, expr->left, steps)) return false;
  BalanceStep *step = &g_array_index(steps, BalanceStep, steps->len - 1);
  if (steps->len == before + 1 && step->kind == 'f' && step->range_count && !step->operator) {
    if (!constant(scope, expr->right, &number)) return false;
    step->operator = expr->op;
    step->number = number;
    return true;
  }
  if (!balance_add(scope, balance, expr->right, steps)) return false;
  balance_operator(steps, expr->op);
  return true;
}

bool balance_add(Scope *scope, Balance *balance, Expr *expr, GArray *steps) {
  switch (expr->kind) {
  case EXPR_INT:
  case EXPR_BOOL: return add_number(steps, expr->integer);
  case EXPR_UNARY:
    if (expr->op != '-' && expr->op != '!') break;
    if (expr->op == '-') add_number(steps, 0);
    if (!balance_add(scope, balance, expr->left, steps)) return false;
    if (expr->op == '!') add_number(steps, 0);
    balance_operator(steps, expr->op == '-' ? '-' : OP_EQ);
    return true;
  case EXPR_BINARY:
    if (is_comparison(expr->op)) return add_comparison(scope, balance, expr, steps);
    if (expr->op > 127 || !strchr("+-*/%", expr->op)) break;
    if (!balance_add(scope, balance, expr->left, steps) || !balance_add(scope, balance, expr->right, steps))
      return false;
    balance_operator(steps, expr->op);
    return true;
  case EXPR_NAME:
  case EXPR_FIELD:
  case EXPR_INDEX:
  case EXPR_INDEX_ALL: return add_reference(scope, balance, expr, steps);
  default: break;
  }
  problem(expr->location, "value-type",
          "a sum is made of state, statistics, ports, `cycles`, numbers, comparisons and "
          "+ - * / %%");
  return false;
}
