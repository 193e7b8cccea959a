/* rv32i_alu.c: the arithmetic of RV32I; see rv32i_alu.lss. */
#include "rv32i_alu.h"

#include <stdint.h>

_Static_assert((int)RV32I_ALU_SECOND == (int)alu_op_nor, "control words name ALU operations");

static inline uint32_t operate(const self_t *self, uint32_t op, uint32_t a, uint32_t b) {
  const uint32_t amount = b & 31;
  switch (op) {
  case alu_op_add:
    return a + b;
  case alu_op_sub:
    return a - b;
  case alu_op_and:
    return a & b;
  case alu_op_or:
    return a | b;
  case alu_op_xor:
    return a ^ b;
  case alu_op_slt:
    return (int32_t)a < (int32_t)b;
  case alu_op_sltu:
    return a < b;
  case alu_op_sll:
    return a << amount;
  case alu_op_srl:
    return a >> amount;
  case alu_op_sra:
    return (uint32_t)((int64_t)(int32_t)a >> amount);
  case alu_op_nor: /* RV32I_ALU_SECOND */
    return b;
  default:
    sim_error("the RV32I ALU has no operation %u", (unsigned)op);
  }
  return 0;
}

handler(compute) {
  if (!(some(a) & some(b) & some(op))) {
    send_nothing(out);
    for (int i = 0; i < width(flags); i++)
      send_nothing(flags, i);
    return;
  }
  const uint32_t result = operate(self, (uint32_t)data(op), data(a), data(b));
  const alu_flags codes = {.zero = result == 0, .negative = result >> 31};
  send(out, result);
  for (int i = 0; i < width(flags); i++)
    send(flags, i, codes);
}

handler(accept) {
  bool taken = acked(out);
  for (int i = 0; i < width(flags); i++)
    taken = taken && acked(flags, i);
  accept(a, taken);
  accept(b, taken);
  accept(op, taken);
}

handler(commit) {
  const bool meant = enabled(a) & enabled(b) & enabled(op);
  enable(out, meant);
  for (int i = 0; i < width(flags); i++)
    enable(flags, i, meant);
}
