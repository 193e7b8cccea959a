// rv32i_alu.c: the arithmetic of RV32I; see rv32i_alu.lss.
#include "core/rv32i/rv32i_alu.h"

#include "core/alu.h"

_Static_assert((int)RV32I_ALU_SECOND == (int)alu_op_nor, "control words name ALU operations");

static inline uint32_t operate(const self_t *self, alu_op op, uint32_t a, uint32_t b) {
  if (op > alu_op_sra) sim_error("the RV32I ALU has no operation %u", (unsigned)op);
  return (int)op == RV32I_ALU_SECOND ? b : (uint32_t)alu_integer(op, a, b, 0, 0, 32);
}

handler(compute) {
  if (!(some(a) & some(b) & some(op))) {
    send_nothing(out);
    for (int i = 0; i < width(flags); i++) send_nothing(flags, i);
    return;
  }
  const uint32_t result = operate(self, data(op), data(a), data(b));
  const alu_flags codes = {.zero = result == 0, .negative = result >> 31};
  send(out, result);
  for (int i = 0; i < width(flags); i++) send(flags, i, codes);
}

handler(accept) {
  bool taken = acked(out);
  for (int i = 0; i < width(flags); i++) taken = taken && acked(flags, i);
  accept(a, taken);
  accept(b, taken);
  accept(op, taken);
}

handler(commit) {
  const bool committed = enabled(a) & enabled(b) & enabled(op);
  enable(out, committed);
  for (int i = 0; i < width(flags); i++) enable(flags, i, committed);
}
