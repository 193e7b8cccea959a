/* execute_unit.h: what a unit computes unless it is told otherwise; see execute_unit.lss. */
#ifndef EXECUTE_UNIT_H
#define EXECUTE_UNIT_H

#include "core/alu.h"
#include "core/ooo/places.h"

/* Whether a conditional branch is taken. */
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

#endif
