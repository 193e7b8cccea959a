// What of the tree is at a place; see places.h.
#include "lss/server/places.h"

bool place_covers(Location where, Place at) {
  const bool after = where.line < at.line || (where.line == at.line && where.column <= at.column);
  const bool before = at.line < where.end_line || (at.line == where.end_line && at.column <= where.end_column);
  return where.line > 0 && after && before;
}

void place_enclose(const GPtrArray *nodes, Place at, GPtrArray *around) {
  for (guint i = 0; nodes && i < nodes->len; i++) {
    const Node *node = nodes->pdata[i];
    if (!place_covers(node->location, at)) continue;
    g_ptr_array_add(around, (gpointer)node);
    place_enclose(node->arguments, at, around);
    place_enclose(node->body, at, around);
    place_enclose(node->other, at, around);
    return;
  }
}

int place_named_at(const Expr *expr, Place at) {
  for (guint i = 0; expr->places && i < expr->places->len; i++)
    if (place_covers(*(const Location *)expr->places->pdata[i], at)) return (int)i;
  return -1;
}

static const Expr *expr_at(const Expr *expr, Place at);

static const Expr *exprs_at(const GPtrArray *list, Place at) {
  const Expr *found = NULL;
  for (guint i = 0; list && i < list->len && !found; i++) found = expr_at(list->pdata[i], at);
  return found;
}

// The innermost name, field, string, record, code or named setting at a place.  The text of C between its ${} has no
// place of its own.
static const Expr *expr_at(const Expr *expr, Place at) {
  if (!expr || !place_covers(expr->location, at)) return NULL;
  if (expr->kind == EXPR_FIELD && place_covers(expr->place, at)) return expr;
  const Expr *found = expr_at(expr->left, at);
  if (!found) found = expr_at(expr->right, at);
  if (!found) found = expr_at(expr->third, at);
  for (guint i = 0; expr->items && i < expr->items->len && !found; i++) {
    const Expr *item = expr->items->pdata[i];
    if (expr->kind != EXPR_CODE || item->kind != EXPR_STRING) found = expr_at(item, at);
  }
  if (found || (expr->kind == EXPR_CALL && place_named_at(expr, at) >= 0)) return found ? found : expr;
  const bool whole = expr->kind == EXPR_STRING || expr->kind == EXPR_RECORD || expr->kind == EXPR_CODE;
  return expr->kind == EXPR_NAME || whole ? expr : NULL;
}

// The same of a range, whose place need not be all of it.
static const Expr *range_at(const Expr *range, Place at) {
  const Expr *found = range ? expr_at(range->right, at) : NULL;
  return found || !range ? found : expr_at(range->third, at);
}

const Expr *place_expr(const Node *node, Place at) {
  const Expr *const single[] = {node->type, node->value, node->target, node->clock};
  const GPtrArray *const lists[] = {node->dimensions, node->reads, node->writes, node->receivers};
  const Expr *found = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(single) && !found; i++) found = expr_at(single[i], at);
  if (!found) found = range_at(node->range, at);
  if (!found) found = range_at(node->within, at);
  for (guint i = 0; i < G_N_ELEMENTS(lists) && !found; i++) found = exprs_at(lists[i], at);
  if (!found && node->first) found = place_expr(node->first, at);
  return found || !node->step ? found : place_expr(node->step, at);
}

bool place_is_type(const Expr *type, const Expr *name) {
  if (!type || type == name) return type != NULL;
  switch (type->kind) {
  case EXPR_CALL:
  case EXPR_INDEX:
  case EXPR_LIST_TYPE: return place_is_type(type->left, name);
  case EXPR_BINARY: return type->op == '|' && (place_is_type(type->left, name) || place_is_type(type->right, name));
  case EXPR_CONDITIONAL: return place_is_type(type->right, name) || place_is_type(type->third, name);
  default: return false;
  }
}

bool place_begins(const Expr *expr, const Expr *name) {
  while (expr && expr != name) expr = expr->left;
  return expr != NULL;
}
