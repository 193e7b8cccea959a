// The steps of a sum, and the parts of a path that decide which elements a step is about.
#include "lss/attach/balance.h"
#include "lss/base/arena.h"

#include <string.h>

GPtrArray *balance_parts(Expr *expr) {
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

void balance_operator(GArray *steps, int operator) {
  const BalanceStep step = {.kind = 'o', .operator = operator};
  g_array_append_val(steps, step);
}

void balance_append(GArray *steps, const BalancePlace *place) {
  BalanceStep step = place->step;
  if (step.range_count) {
    BalanceRange *ranges = arena_alloc(step.range_count * sizeof *ranges);
    memcpy(ranges, place->ranges, step.range_count * sizeof *ranges);
    step.ranges = ranges;
  }
  g_array_append_val(steps, step);
}

// One index or star over `length` elements of `size` bytes.
bool balance_element(Scope *scope, const Expr *part, BalancePlace *place, int length, gsize size) {
  int64_t n;
  if (part->kind == EXPR_INDEX_ALL) {
    if (place->step.range_count == BALANCE_RANGES) {
      problem(part->location, "value-type", "a sum goes over %d dimensions at most", BALANCE_RANGES);
      return false;
    }
    place->ranges[place->step.range_count++] = (BalanceRange){size, (guint64)length};
    return true;
  }
  if (!evaluate_int(scope, part->right, "the index", 0, length - 1, &n)) return false;
  place->step.offset += (guint64)n * size;
  return true;
}

bool balance_member(const Expr *part, BalancePlace *place) {
  gsize offset = 0;
  for (guint i = 0; place->type->kind == TYPE_PACKED && !place->step.bits && i < place->type->fields->len; i++) {
    const Field *field = place->type->fields->pdata[i];
    if (strcmp(field->name, part->text) != 0) continue;
    place->step.shift = (guint8)field->first;
    place->step.bits = (guint8)field->bits;
    return true;
  }
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
