// execute_unit.h: what a unit computes unless it is told otherwise; see execute_unit.lss.
#ifndef EXECUTE_UNIT_H
#define EXECUTE_UNIT_H

#include "core/alu.h"
#include "core/ooo/places.h"
#include "emulib/arithmetic.h"

// Whether a conditional branch is taken.
static inline bool branch_compares(branch_compare compare, uint32_t a, uint32_t b) {
  switch (compare) {
  case branch_compare_eq: return a == b;
  case branch_compare_ne: return a != b;
  case branch_compare_lt: return (int32_t)a < (int32_t)b;
  case branch_compare_ge: return (int32_t)a >= (int32_t)b;
  case branch_compare_ltu: return a < b;
  default: return a >= b;
  }
}

// What multipliers and dividers compute of two factors and what is added, or of dividend and divisor.
static inline uint32_t product_compute(product_op op, uint32_t a, uint32_t b, uint32_t c) {
  switch (op) {
  case product_op_low: return c + a * b;
  case product_op_low_less: return c - a * b;
  case product_op_high: return (uint32_t)((c + product_signed(a, b)) >> 32);
  case product_op_high_less: return (uint32_t)((c - product_signed(a, b)) >> 32);
  case product_op_high_unsigned: return (uint32_t)((c + product_unsigned(a, b)) >> 32);
  case product_op_high_less_unsigned: return (uint32_t)((c - product_unsigned(a, b)) >> 32);
  case product_op_quotient: return quotient_signed(a, b);
  default: return quotient_unsigned(a, b);
  }
}

// Whether an operation traps on its result.
static inline trap_cause operation_trapped(operation control, uint32_t a, uint32_t b, uint32_t value) {
  const bool subtracts = operation_alu(control) == alu_op_sub;
  switch (operation_trap(control)) {
  case trap_cause_overflow:
    return (subtracts ? sub_overflows(a, b) : add_overflows(a, b)) ? trap_cause_overflowed : trap_cause_none;
  case trap_cause_zero: return value == 0 ? trap_cause_taken : trap_cause_none;
  case trap_cause_nonzero: return value != 0 ? trap_cause_taken : trap_cause_none;
  default: return trap_cause_none;
  }
}

#endif
