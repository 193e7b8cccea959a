/* alu.h: what the ALU computes, for every type it may have. */
#ifndef ALU_H
#define ALU_H

#include <stdbool.h>
#include <stdint.h>

/* Floating point has no bits to work on; other operations than these give zero. */
#define ALU_FLOATING(NAME, TYPE)                                                                                       \
  static inline TYPE alu_##NAME(alu_op op, TYPE a, TYPE b) {                                                           \
    switch (op) {                                                                                                      \
    case alu_op_add: return a + b;                                                                                     \
    case alu_op_sub: return a - b;                                                                                     \
    case alu_op_slt: return a < b ? 1 : 0;                                                                             \
    case alu_op_multiply: return a * b;                                                                                \
    case alu_op_divide: return a / b;                                                                                  \
    default: return 0;                                                                                                 \
    }                                                                                                                  \
  }
ALU_FLOATING(float, float)
ALU_FLOATING(double, double)

/* Integers of `bits` bits, in the low bits of a and b. */
static inline uint64_t alu_integer(alu_op op, uint64_t a, uint64_t b, int bits) {
  const unsigned amount = (unsigned)b & (unsigned)(bits - 1);
  const int rest = 64 - bits;
  if (__builtin_expect(op == alu_op_add, true)) /* most often, in programs */
    return a + b;
  const int64_t sa = (int64_t)(a << rest) >> rest, sb = (int64_t)(b << rest) >> rest;
  switch (op) {
  case alu_op_add: break;
  case alu_op_sub: return a - b;
  case alu_op_and: return a & b;
  case alu_op_or: return a | b;
  case alu_op_xor: return a ^ b;
  case alu_op_nor: return ~(a | b);
  case alu_op_slt: return sa < sb;
  case alu_op_sltu: return a < b;
  case alu_op_sll: return a << amount;
  case alu_op_srl: return a >> amount;
  case alu_op_sra: return (uint64_t)(sa >> amount);
  case alu_op_priority: return a & b ? 64 - (uint64_t)__builtin_clzll(a & b) : 0;
  case alu_op_multiply: return a * b;
  case alu_op_divide: return b == 0 ? ~UINT64_C(0) : a / b;
  }
  return 0;
}

#endif
