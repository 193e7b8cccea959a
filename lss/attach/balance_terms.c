// The sums of balances: statistics and other state with indices, members and `[*]` for all elements, what was counted
// at ports and of events (balance_ports.c), cycles and numbers.
#include "lss/attach/balance.h"
#include "lss/base/arena.h"

#include <string.h>

static bool add_number(GArray *steps, int64_t number) {
  const BalanceStep step = {.kind = 'n', .number = number};
  g_array_append_val(steps, step);
  return true;
}

// ---- State ---------------------------------------------------------------------------------------------------------

// The elements of a field that the rest of a path means, from its part `at` on.
static bool add_field(Scope *scope, Instance *holder, StateField *field, const GPtrArray *parts, guint at,
                      GArray *steps) {
  const Expr *last = parts->pdata[parts->len - 1];
  BalancePlace place = {.step = {.kind = 'f', .instance = holder, .field = field}, .type = field->type};
  guint64 below = type_size(field->type, NULL);
  for (guint d = 0; d < field->dimensions->len; d++) below *= (guint64)MAX(g_array_index(field->dimensions, int, d), 1);
  guint dimension = 0;
  for (; at < parts->len; at++) {
    const Expr *part = parts->pdata[at];
    const bool indexes = part->kind != EXPR_FIELD;
    if (indexes && dimension < field->dimensions->len) {
      const int length = g_array_index(field->dimensions, int, dimension++);
      below /= (guint64)MAX(length, 1);
      if (!balance_element(scope, part, &place, length, below)) return false;
    } else if (indexes && place.type->kind == TYPE_ARRAY) {
      const int length = place.type->length;
      place.type = place.type->element;
      if (!balance_element(scope, part, &place, length, type_size(place.type, NULL))) return false;
    } else if (indexes || !balance_member(part, &place)) {
      if (indexes) problem(part->location, "value-type", "`%s` has fewer dimensions", field->name);
      return false;
    }
  }
  const bool rings = field->kind == STATE_TRACE && field->dimensions->len;
  if (field->kind == STATE_INSTANT || field->kind == STATE_STAMP || rings || !type_is_whole_number(place.type) ||
      dimension < field->dimensions->len) {
    problem(last->location, "value-type", "a sum is made of whole numbers: `%s` is %s", field->name,
            dimension < field->dimensions->len ? "an array, where `[*]` means all elements"
            : field->kind == STATE_INSTANT     ? "an instant"
            : field->kind == STATE_STAMP       ? "a stamp"
            : rings                            ? "a trace"
                                               : place.type->name);
    return false;
  }
  place.step.type = place.type;
  balance_append(steps, &place);
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
    if (!field && find_event(from, name)) return balance_event(from, parts, at, steps) ? PATH_ADDED : PATH_WRONG;
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

static bool add_reference(Scope *scope, const Balance *balance, Expr *expr, GArray *steps) {
  g_autoptr(GPtrArray) parts = balance_parts(expr);
  if (!parts) {
    problem(expr->location, "value-type", "a path in a sum begins with a name");
    return false;
  }
  const char *name = ((Expr *)parts->pdata[0])->text;
  const Path path = add_path(scope, balance->instance, parts, 0, steps);
  if (path != PATH_NONE) return path == PATH_ADDED;
  Inst *inst = compile->running;
  if (inst->instance->leaf && find_declared_port(inst, name)) return balance_items(scope, inst, expr, false, steps);
  if (parts->len == 1 && !strcmp(name, "cycles")) {
    const BalanceStep step = {.kind = 'c', .instance = balance->instance};
    g_array_append_val(steps, step);
    return true;
  }
  int64_t number;
  const Symbol *symbol = scope_find(scope, name);
  if (symbol && (symbol->kind == SYMBOL_VALUE || symbol->kind == SYMBOL_DECLARATION))
    return constant(scope, expr, &number) && add_number(steps, number);
  problem(expr->location, "unknown-name", "%s has no state, statistic, port or event `%s`",
          *balance->instance->path ? balance->instance->path : "the machine", expr_text(expr));
  return false;
}

static bool is_comparison(int op) {
  return op == OP_EQ || op == OP_NE || op == OP_LE || op == OP_GE || op == '<' || op == '>';
}

// Whether a comparison with a number is made of each element of what the step adds, or item, of which it counts those
// that compare so.
static bool counts_each(const BalanceStep *step) {
  if (step->operator || step->ones) return false;
  return (step->kind == 'f' && step->range_count) || (step->kind == 'p' && step->type);
}

// `state[*] != idle`, `done.status != 0`: how many elements or items are so.
static bool add_comparison(Scope *scope, Balance *balance, Expr *expr, GArray *steps) {
  int64_t number;
  const guint before = steps->len;
  if (!balance_add(scope, balance, expr->left, steps)) return false;
  BalanceStep *step = &g_array_index(steps, BalanceStep, steps->len - 1);
  if (steps->len == before + 1 && counts_each(step)) {
    if (!constant(scope, expr->right, &number)) return false;
    step->operator = expr->op;
    step->number = number;
    return true;
  }
  if (!balance_add(scope, balance, expr->right, steps)) return false;
  balance_operator(steps, expr->op);
  return true;
}

// `ones(held[*])`: how many bits are 1 in these elements.  `sum(take)`: what the numbers that were transferred add up
// to.
static bool add_call(Scope *scope, Balance *balance, Expr *expr, GArray *steps) {
  const char *name = expr->left->kind == EXPR_NAME ? expr->left->text : "";
  Expr *argument = expr->items->len == 1 ? expr->items->pdata[0] : NULL;
  if (argument && !strcmp(name, "sum")) {
    g_autoptr(GPtrArray) parts = balance_parts(argument);
    Inst *inst = compile->running;
    if (parts && inst->instance->leaf && find_declared_port(inst, ((Expr *)parts->pdata[0])->text))
      return balance_items(scope, inst, argument, true, steps);
    problem(expr->location, "value-type", "`sum` adds the numbers that were transferred at a port, as in `sum(take)`");
    return false;
  }
  const guint before = steps->len;
  if (!argument || strcmp(name, "ones") != 0) {
    problem(expr->location, "value-type", "the functions of a sum are `ones(state)` and `sum(port)`");
    return false;
  }
  if (!balance_add(scope, balance, argument, steps)) return false;
  BalanceStep *step = &g_array_index(steps, BalanceStep, before);
  if (steps->len == before + 1 && step->kind == 'f' && !step->operator && !step->ones) return step->ones = true;
  problem(argument->location, "value-type", "`ones` counts the bits of state, as in `ones(held[*])`");
  return false;
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
  case EXPR_CALL: return add_call(scope, balance, expr, steps);
  default: break;
  }
  problem(expr->location, "value-type",
          "a sum is made of state, statistics, ports, events, `cycles`, numbers, comparisons and + - * / %%");
  return false;
}
