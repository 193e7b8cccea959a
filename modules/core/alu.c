// alu.c: combinational arithmetic and logic; see alu.lss.
#include "core/alu.h"

#define FLOATING                                                                                                       \
  (__builtin_types_compatible_p(typeof_port(a), float) || __builtin_types_compatible_p(typeof_port(a), double))
#define BITS ((int)sizeof(typeof_port(a)) * 8)

// The operand as an unsigned number of its own width.
static inline uint64_t number(typeof_port(a) value) {
  return (uint64_t)value & (~UINT64_C(0) >> (64 - BITS));
}

handler(compute) {
  bool given = some(a) & some(b) & some(op);
  for (int i = 0; i < width(field); i++) given &= some(field, i);
  if (!given) {
    send_nothing(out);
    for (int i = 0; i < width(flags); i++) send_nothing(flags, i);
    return;
  }
  bit_field chosen = {.position = 0, .size = BITS};
  for (int i = 0; i < width(field); i++) chosen = data(field, i);
  typeof_port(a) result;
  if (__builtin_types_compatible_p(typeof_port(a), float))
    result = (typeof_port(a))alu_float(data(op), (float)data(a), (float)data(b));
  else if (FLOATING)
    result = (typeof_port(a))alu_double(data(op), (double)data(a), (double)data(b));
  else
    result =
        (typeof_port(a))alu_integer(data(op), number(data(a)), number(data(b)), chosen.position, chosen.size, BITS);
  send(out, result);
  alu_flags codes = {.zero = result == 0};
  if (FLOATING) {
    codes.negative = (double)result < 0;
  } else {
    const uint64_t x = number(data(a)), y = number(data(b)), r = number(result), sign = UINT64_C(1) << (BITS - 1);
    const bool adds = data(op) == alu_op_add, subtracts = data(op) == alu_op_sub;
    codes.negative = r & sign;
    codes.carry = (adds & (r < x)) | (subtracts & (x >= y));
    // The sign of the result is not that of the first operand, and the second had (sub: had not) the same sign.
    codes.overflow = (adds | subtracts) & (((x ^ y ^ -(uint64_t)adds) & (x ^ r) & sign) != 0);
  }
  for (int i = 0; i < width(flags); i++) send(flags, i, codes);
}

handler(accept) {
  bool taken = acked(out);
  for (int i = 0; i < width(flags); i++) taken = taken && acked(flags, i);
  accept(a, taken);
  accept(b, taken);
  accept(op, taken);
  for (int i = 0; i < width(field); i++) accept(field, i, taken);
}

handler(commit) {
  bool committed = enabled(a) & enabled(b) & enabled(op);
  for (int i = 0; i < width(field); i++) committed &= enabled(field, i);
  enable(out, committed);
  for (int i = 0; i < width(flags); i++) enable(flags, i, committed);
}
