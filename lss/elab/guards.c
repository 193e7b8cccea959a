// Guards that say no more than the connection inside them: `if (p.width > 0) a.x -> p;` and a loop over the lanes of
// `p` connect what `a.x -> p[*];` does, which makes no lane where `p` has none.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/front/wrapped.h"

#include <string.h>

static bool is_name(const Expr *expr, const char *name) {
  return expr->kind == EXPR_NAME && !strcmp(expr->text, name);
}

static bool is_number(const Expr *expr, int64_t number) {
  return expr && expr->kind == EXPR_INT && expr->integer == number;
}

// The port p of the module itself in `p.width`; NULL when it is something else.
static const char *own_port_of_width(Scope *scope, const Expr *expr) {
  if (expr->kind != EXPR_FIELD || strcmp(expr->text, "width") != 0 || expr->left->kind != EXPR_NAME) return NULL;
  const Symbol *symbol = scope_find(scope, expr->left->text);
  return symbol && symbol->kind == SYMBOL_PORT ? expr->left->text : NULL;
}

// `a.x`, of a single instance: each connection of it makes a lane.
static bool is_inner_port(const Expr *expr) {
  return expr->kind == EXPR_FIELD && expr->left->kind == EXPR_NAME;
}

// `p` or `p[*]`; in a loop `p[i]`.
static bool is_own_end(const Expr *expr, const char *port, const char *counter) {
  if (counter) return expr->kind == EXPR_INDEX && is_name(expr->left, port) && is_name(expr->right, counter);
  return is_name(expr->kind == EXPR_INDEX_ALL ? expr->left : expr, port);
}

// The port at the other end, without the index of a loop; NULL when [*] could not stand for all connections.
static const Expr *other_end(const Expr *expr, const char *counter) {
  if (counter && expr->kind == EXPR_INDEX && is_name(expr->right, counter)) expr = expr->left;
  return is_inner_port(expr) ? expr : NULL;
}

static void judge(const Node *guard, const char *port, const char *counter) {
  const Node *connection = guard->body->len == 1 ? guard->body->pdata[0] : NULL;
  if (!connection || connection->kind != NODE_CONNECT || connection->receivers->len != 1) return;
  const Expr *from = connection->target, *to = connection->receivers->pdata[0];
  const bool receives = is_own_end(from, port, counter); // what comes in from outside
  if (!receives && !is_own_end(to, port, counter)) return;
  const Expr *other = other_end(receives ? to : from, counter);
  if (!other) return;
  // Where others are connected to it as well, each has a lane of its own, or a choice of them.
  if (body_connects_elsewhere(compile->running->body, connection, port)) return;
  const char *own = arena_printf("%s[*]", port), *inner = expr_text(other);
  diag_warning(guard->value->location, "needless-guard", "`%s -> %s;` alone connects the same lanes",
               receives ? own : inner, receives ? inner : own);
}

void check_guard(Scope *scope, const Node *node) {
  const Expr *condition = node->value;
  if (!condition || condition->kind != EXPR_BINARY) return;
  if (node->kind == NODE_IF) {
    const char *port = condition->op == '>' && !node->other && is_number(condition->right, 0)
                           ? own_port_of_width(scope, condition->left)
                           : NULL;
    if (port) judge(node, port, NULL);
    return;
  }
  const Node *first = node->first, *step = node->step;
  const char *counter = first->kind == NODE_VAR            ? first->name
                        : first->target->kind == EXPR_NAME ? first->target->text
                                                           : NULL;
  if (!counter || !is_number(first->value, 0) || condition->op != '<' || !is_name(condition->left, counter)) return;
  const char *port = own_port_of_width(scope, condition->right);
  const Symbol *symbol = port ? scope_find(scope, port) : NULL;
  if (symbol && symbol->port->node->keyed) return; // [*] would pass its keys on, an index does not
  const bool by_one = step->kind == NODE_ASSIGN && is_name(step->target, counter) && step->value->kind == EXPR_BINARY &&
                      step->value->op == '+' && is_name(step->value->left, counter) && is_number(step->value->right, 1);
  if (port && by_one) judge(node, port, counter);
}
