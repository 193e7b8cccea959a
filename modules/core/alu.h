// alu.h: what the ALU computes, for every type it may have.
#ifndef ALU_H
#define ALU_H

#include <stdbool.h>
#include <stdint.h>

// Floating point has no bits to work on; other operations than these give zero.
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

// As many ones, from bit 0.
static inline uint64_t alu_ones(unsigned n) {
  return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

// The operations that count, pick and place bits; numbers as in alu_integer().
static inline uint64_t alu_bits(alu_op op, uint64_t a, uint64_t b, unsigned position, unsigned size, int bits) {
  const unsigned amount = (unsigned)b & (unsigned)(bits - 1);
  const uint64_t known = alu_ones((unsigned)bits), chosen = alu_ones(size);
  switch (op) {
  case alu_op_clo: a = ~a & known; [[fallthrough]];
  case alu_op_clz: return a ? (uint64_t)(__builtin_clzll(a) - (64 - bits)) : (uint64_t)bits;
  case alu_op_ext: return a >> position & chosen;
  case alu_op_ins: return (b & ~(chosen << position)) | (a & chosen) << position;
  case alu_op_seb: return (uint64_t)(int8_t)a;
  case alu_op_seh: return (uint64_t)(int16_t)a;
  case alu_op_wsbh: return (a & UINT64_C(0x00ff00ff00ff00ff)) << 8 | (a >> 8 & UINT64_C(0x00ff00ff00ff00ff));
  case alu_op_rotr: return amount ? a >> amount | a << ((unsigned)bits - amount) : a;
  default: return 0;
  }
}

// Integers of `bits` bits, in the low bits of a and b; ext and ins work on a field of `size` bits from `position` on.
static inline uint64_t alu_integer(alu_op op, uint64_t a, uint64_t b, unsigned position, unsigned size, int bits) {
  const unsigned amount = (unsigned)b & (unsigned)(bits - 1);
  const int rest = 64 - bits;
  if (__builtin_expect(op == alu_op_add, true)) // most often, in programs
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
  default: return alu_bits(op, a, b, position & (unsigned)(bits - 1), size, bits);
  }
  return 0;
}

#endif
