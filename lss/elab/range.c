// The ranges that parameters declare, `in 1..64`: their bounds, and the check of a value.
#include "lss/elab/range.h"

#include "lss/base/diagnostics.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"

static bool is_ordered(const Value *value) {
  return value->kind == VALUE_INT || value->kind == VALUE_FLOAT || value->kind == VALUE_QUANTITY;
}

static bool evaluate_bound(Scope *scope, const Node *node, Expr *expr, Value **bound) {
  if (!expr) return true;
  Expr *type = node->type->kind == EXPR_LIST_TYPE ? node->type->left : node->type; // of each element
  Value *value = evaluate(scope, expr);
  if (value) value = coerce_to_parameter(scope, value, type, expr->location, node->name);
  if (value && !is_ordered(value)) {
    problem(expr->location, "value-type", "a range bounds numbers and quantities, not %s", value_kind_text(value));
    return false;
  }
  *bound = value;
  return value != NULL;
}

bool range_evaluate(Scope *scope, const Node *node, Value **least, Value **most) {
  if (!node->range) return true;
  if (!evaluate_bound(scope, node, node->range->right, least) || !evaluate_bound(scope, node, node->range->third, most))
    return false;
  if (!*least || !*most || value_order(*least, *most) <= 0) return true;
  problem(node->range->location, "parameter-range", "nothing is in the range of `%s`, %s", node->name,
          value_range_text(*least, *most));
  return false;
}

static bool holds(const Value *value, const Value *least, const Value *most) {
  return (!least || value_order(value, least) >= 0) && (!most || value_order(value, most) <= 0);
}

bool range_check(const Node *node, const Value *value, const Value *least, const Value *most, Location where) {
  if (!least && !most) return true;
  for (guint i = 0; value->kind == VALUE_LIST && i < value->items->len; i++) {
    const Value *item = value->items->pdata[i];
    if (!range_check(node, item, least, most, item->location.file ? item->location : where)) return false;
  }
  if (value->kind == VALUE_LIST || holds(value, least, most)) return true;
  problem(where, "parameter-range", "`%s` is %s, outside its range, %s", node->name, value_text(value),
          value_range_text(least, most));
  if (node->range->location.file != where.file || node->range->location.line != where.line)
    diag_note(node->range->location, "the range of `%s` is declared here", node->name);
  return false;
}
