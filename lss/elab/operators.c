// What the operators of LSS do: integers with overflow checks, floats, strings, lists, quantities with their
// dimensions.
#include "lss/base/arena.h"
#include "lss/base/diagnostics.h"
#include "lss/base/units.h"
#include "lss/elab/elaborate.h"
#include "lss/elab/value.h"
#include "lss/front/tree.h"

#include <math.h>
#include <string.h>

static Value *overflow(Location where) {
  problem(where, "overflow", "the result does not fit into 64 bits");
  return NULL;
}

static Value *mismatch(int op, const Value *left, const Value *right, Location where) {
  char buffer[2] = "";
  bool quantities = left->kind == VALUE_QUANTITY || right->kind == VALUE_QUANTITY;
  problem(where, quantities ? "unit" : "value-type", "`%s` cannot combine %s and %s", operator_text(op, buffer),
          value_kind_text(left), value_kind_text(right));
  return NULL;
}

static Value *by_zero(Location where) {
  problem(where, "division-by-zero", "division by zero");
  return NULL;
}

static Value *integers(int op, int64_t a, int64_t b, Location where) {
  int64_t r = 0;
  switch (op) {
  case '+': return __builtin_add_overflow(a, b, &r) ? overflow(where) : value_int(r, where);
  case '-': return __builtin_sub_overflow(a, b, &r) ? overflow(where) : value_int(r, where);
  case '*': return __builtin_mul_overflow(a, b, &r) ? overflow(where) : value_int(r, where);
  case '/':
  case '%':
    if (b == 0) return by_zero(where);
    if (b == -1) return op == '%' ? value_int(0, where) : a == G_MININT64 ? overflow(where) : value_int(-a, where);
    return value_int(op == '/' ? a / b : a % b, where);
  case '&': return value_int(a & b, where);
  case '|': return value_int(a | b, where);
  case '^': return value_int(a ^ b, where);
  case OP_SHL:
  case OP_SHR:
    if (b < 0 || b > 63) {
      problem(where, "overflow", "a shift by %" G_GINT64_FORMAT " is outside 0 to 63", b);
      return NULL;
    }
    if (op == OP_SHR) return value_int(a >> b, where);
    r = (int64_t)((uint64_t)a << b);
    return (r >> b) != a ? overflow(where) : value_int(r, where);
  case '<': return value_bool(a < b, where);
  case '>': return value_bool(a > b, where);
  case OP_LE: return value_bool(a <= b, where);
  case OP_GE: return value_bool(a >= b, where);
  default: return NULL;
  }
}

// Floats of the compiler are finite: neither C nor JSON has a number for the others.
static Value *of_real(double real, Location where) {
  return isfinite(real) ? value_float(real, where) : overflow(where);
}

static Value *floats(int op, double a, double b, Location where, const Value *left, const Value *right) {
  switch (op) {
  case '+': return of_real(a + b, where);
  case '-': return of_real(a - b, where);
  case '*': return of_real(a * b, where);
  case '/': return b == 0 ? by_zero(where) : of_real(a / b, where);
  case '<': return value_bool(a < b, where);
  case '>': return value_bool(a > b, where);
  case OP_LE: return value_bool(a <= b, where);
  case OP_GE: return value_bool(a >= b, where);
  default: return mismatch(op, left, right, where);
  }
}

static Value *quantity(Dimension dimension, bool fits, int64_t num, int64_t den, Location where) {
  return fits ? value_quantity(dimension, num, den, where) : overflow(where);
}

// A float that takes part in exact arithmetic is read as the shortest decimal that denotes it.
static bool plain_number(const Value *value, int64_t *num, int64_t *den) {
  if (value->kind == VALUE_INT) {
    *num = value->integer;
    *den = 1;
    return *num != G_MININT64;
  }
  if (value->kind == VALUE_QUANTITY && value->dimension == DIM_FRACTION) {
    *num = value->num;
    *den = value->den;
    return true;
  }
  if (value->kind != VALUE_FLOAT || !isfinite(value->real)) return false;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(text, sizeof text, "%.15g", fabs(value->real));
  if (!number_exact(text, strlen(text), num, den)) return false;
  if (value->real < 0) *num = -*num;
  return true;
}

static bool is_number(const Value *value) {
  return value->kind == VALUE_INT || value->kind == VALUE_FLOAT ||
         (value->kind == VALUE_QUANTITY && value->dimension == DIM_FRACTION);
}

static Value *compared(int op, int order, Location where) {
  switch (op) {
  case '<': return value_bool(order < 0, where);
  case '>': return value_bool(order > 0, where);
  case OP_LE: return value_bool(order <= 0, where);
  default: return value_bool(order >= 0, where);
  }
}

static Value *quotient(Value *left, Value *right, Location where) {
  int64_t n, d;
  bool fits = rational_multiply(left->num, left->den, right->den, right->num, &n, &d);
  if (left->dimension == right->dimension) {
    if (!fits) return overflow(where);
    return d == 1 ? value_int(n, where) : value_float((double)n / (double)d, where);
  }
  // A size over a time is a rate, in bits; a size over a rate is a time.
  if (left->dimension == DIM_SIZE && right->dimension == DIM_TIME)
    return quantity(DIM_RATE, fits && rational_multiply(n, d, 8, 1, &n, &d), n, d, where);
  if (left->dimension == DIM_SIZE && right->dimension == DIM_RATE)
    return quantity(DIM_TIME, fits && rational_multiply(n, d, 8, 1, &n, &d), n, d, where);
  return mismatch('/', left, right, where);
}

static Value *quantities(int op, Value *left, Value *right, Location where) {
  int64_t n = 0, d = 1, ln, ld;
  bool both = left->kind == VALUE_QUANTITY && right->kind == VALUE_QUANTITY;
  bool same = both && left->dimension == right->dimension;
  switch (op) {
  case '+':
  case '-':
    if (!same) return mismatch(op, left, right, where);
    return quantity(left->dimension,
                    rational_add(left->num, left->den, op == '+' ? right->num : -right->num, right->den, &n, &d), n, d,
                    where);
  case '<':
  case '>':
  case OP_LE:
  case OP_GE:
    if (!same) return mismatch(op, left, right, where);
    return compared(op, rational_compare(left->num, left->den, right->num, right->den), where);
  case '*':
    if (right->kind == VALUE_QUANTITY && is_number(left)) {
      Value *swap = left;
      left = right;
      right = swap;
    }
    if (left->kind == VALUE_QUANTITY && is_number(right)) {
      if (!plain_number(right, &ln, &ld)) return overflow(where);
      return quantity(left->dimension, rational_multiply(left->num, left->den, ln, ld, &n, &d), n, d, where);
    }
    // A time and a frequency make a number; a rate for a time makes a size.
    if (both && left->dimension != right->dimension) {
      Dimension a = MIN(left->dimension, right->dimension), b = MAX(left->dimension, right->dimension);
      bool fits = rational_multiply(left->num, left->den, right->num, right->den, &n, &d);
      if (a == DIM_FREQUENCY && b == DIM_TIME)
        return !fits ? overflow(where) : d == 1 ? value_int(n, where) : value_float((double)n / (double)d, where);
      if (a == DIM_TIME && b == DIM_RATE)
        return quantity(DIM_SIZE, fits && rational_multiply(n, d, 1, 8, &n, &d), n, d, where);
    }
    return mismatch(op, left, right, where);
  case '/':
    if (right->kind == VALUE_QUANTITY ? right->num == 0
        : right->kind == VALUE_INT    ? right->integer == 0
                                      : right->kind == VALUE_FLOAT && right->real == 0)
      return by_zero(where);
    if (both && !(right->dimension == DIM_FRACTION && left->dimension != DIM_FRACTION))
      return quotient(left, right, where);
    if (left->kind == VALUE_QUANTITY && is_number(right)) {
      if (!plain_number(right, &ln, &ld)) return overflow(where);
      return quantity(left->dimension, rational_multiply(left->num, left->den, ld, ln, &n, &d), n, d, where);
    }
    if (is_number(left) && (right->dimension == DIM_FREQUENCY || right->dimension == DIM_TIME)) {
      if (!plain_number(left, &ln, &ld)) return overflow(where);
      return quantity(right->dimension == DIM_TIME ? DIM_FREQUENCY : DIM_TIME,
                      rational_multiply(ln, ld, right->den, right->num, &n, &d), n, d, where);
    }
    return mismatch(op, left, right, where);
  case '%':
    if (!same) return mismatch(op, left, right, where);
    if (right->num == 0) return by_zero(where);
    __int128 a = (__int128)left->num * right->den, b = (__int128)right->num * left->den;
    return quantity(left->dimension,
                    rational_normalize(a % b, 1, &n, &d) && rational_multiply(n, d, 1, left->den, &n, &d) &&
                        rational_multiply(n, d, 1, right->den, &n, &d),
                    n, d, where);
  default: return mismatch(op, left, right, where);
  }
}

static Value *joined(Value *left, Value *right, Location where) {
  if (left->kind == VALUE_STRING) {
    if (!charge((int)((strlen(left->string) + strlen(right->string)) / 16), where)) return NULL;
    return value_string(arena_printf("%s%s", left->string, right->string), where);
  }
  if (!charge((int)(left->items->len + right->items->len), where)) return NULL;
  Value *list = value_list(where);
  for (guint i = 0; i < left->items->len; i++) g_ptr_array_add(list->items, left->items->pdata[i]);
  for (guint i = 0; i < right->items->len; i++) g_ptr_array_add(list->items, right->items->pdata[i]);
  return value_close(list, where) ? list : NULL;
}

Value *operator_unary(int op, Value *operand, Location where) {
  if (!operand) return NULL;
  if (op == '!' && operand->kind == VALUE_BOOL) return value_bool(!operand->integer, where);
  if (op == '~' && operand->kind == VALUE_INT) return value_int(~operand->integer, where);
  if (op == '-' && operand->kind == VALUE_INT)
    return operand->integer == G_MININT64 ? overflow(where) : value_int(-operand->integer, where);
  if (op == '-' && operand->kind == VALUE_FLOAT) return value_float(-operand->real, where);
  if (op == '-' && operand->kind == VALUE_QUANTITY)
    return value_quantity(operand->dimension, -operand->num, operand->den, where);
  problem(where, "value-type", "`%c` does not apply to %s", op, value_kind_text(operand));
  return NULL;
}

Value *operator_binary(int op, Value *left, Value *right, Location where) {
  if (!left || !right) return NULL;
  if (op == OP_EQ || op == OP_NE) {
    bool numbers = (left->kind == VALUE_INT || left->kind == VALUE_FLOAT) &&
                   (right->kind == VALUE_INT || right->kind == VALUE_FLOAT);
    bool comparable = numbers || (left->kind == right->kind &&
                                  (left->kind != VALUE_QUANTITY || left->dimension == right->dimension) &&
                                  (left->kind != VALUE_ENUM || left->type == right->type));
    if (!comparable) return mismatch(op, left, right, where);
    if (!charge((int)MIN(value_size(left), value_size(right)) - 1, where)) return NULL;
    return value_bool(value_equal(left, right) == (op == OP_EQ), where);
  }
  if (left->kind == VALUE_INT && right->kind == VALUE_INT) {
    // 7 / 2 truncates like C; what divides is exact either way.
    return integers(op, left->integer, right->integer, where);
  }
  if (left->kind == VALUE_QUANTITY || right->kind == VALUE_QUANTITY) return quantities(op, left, right, where);
  bool left_number = left->kind == VALUE_INT || left->kind == VALUE_FLOAT;
  bool right_number = right->kind == VALUE_INT || right->kind == VALUE_FLOAT;
  if (left_number && right_number)
    return floats(op, left->kind == VALUE_INT ? (double)left->integer : left->real,
                  right->kind == VALUE_INT ? (double)right->integer : right->real, where, left, right);
  if (op == '+' && left->kind == right->kind && (left->kind == VALUE_STRING || left->kind == VALUE_LIST))
    return joined(left, right, where);
  if (left->kind == VALUE_STRING && right->kind == VALUE_STRING &&
      (op == '<' || op == '>' || op == OP_LE || op == OP_GE))
    return compared(op, strcmp(left->string, right->string), where);
  if (left->kind == VALUE_BOOL && right->kind == VALUE_BOOL && (op == '&' || op == '|' || op == '^'))
    return value_bool(op == '&'   ? left->integer & right->integer
                      : op == '|' ? left->integer | right->integer
                                  : left->integer ^ right->integer,
                      where);
  return mismatch(op, left, right, where);
}
