/* core_execute.c: operands and results; see core_execute.lss. */
#include "core/core_control.h"

_Static_assert(CORE_ALU_priority == (int)alu_op_priority && CORE_ALU_sll == (int)alu_op_sll,
               "control words name ALU operations");
_Static_assert(CORE_MULDIV_mtlo == (int)muldiv_op_mtlo && CORE_MULDIV_div == (int)muldiv_op_div,
               "control words name muldiv operations");

handler(send_bypass) {
  const core_bypass bypassed = {.control = some(in) ? data(in).control : CORE_CONTROL_IDLE};
  for (int i = 0; i < width(bypass); i++) send(bypass, i, bypassed);
}

/* Newest value first: the memory stage's, the write-back stage's, what was read from the register file.  Sources and
 * destinations that are none have different numbers. */
handler(operate) {
  if (!some(in)) {
    set(second, 0);
    send_nothing(a);
    send_nothing(b);
    send_nothing(op);
    send_nothing(muldiv);
    return;
  }
  const uint64_t c = data(in).control;
  const uint32_t rs = core_c_rs(c), rt = core_c_rt(c);
  const uint32_t newer = core_c_dest(data(memory).control), older = core_c_dest(data(writeback).control);
  uint32_t first = rs == older ? data(writeback).value : data(in).a;
  uint32_t other = rt == older ? data(writeback).value : data(in).b;
  first = rs == newer ? data(memory).value : first;
  other = rt == newer ? data(memory).value : other;
  const uint32_t sa = core_c_a(c), sb = core_c_b(c);
  const uint32_t alu_a = sa == CORE_A_rt ? other : sa == CORE_A_rs ? first : 0;
  const uint32_t alu_b = sb == CORE_B_imm ? data(in).immediate : sb == CORE_B_rt ? other : sb == CORE_B_rs ? first : 0;
  set(second, other);
  send(a, alu_a);
  send(b, alu_b);
  send(op, (alu_op)core_c_alu(c));
  const uint32_t unit = core_c_muldiv(c);
  typeof_port(muldiv) request = {.op = (muldiv_op)unit, .a = first, .b = other};
  send_if(muldiv, unit != CORE_MULDIV_none, request);
}

handler(collect) {
  if (!some(in)) {
    send_nothing(out);
    return;
  }
  const uint64_t c = data(in).control;
  typeof_port(out)
      item = {.pc = data(in).pc, .word = data(in).word, .control = c, .result = data(result), .b = get(second)};
  if (__builtin_expect(core_c_unusual(c), false)) {
    const uint32_t trap = core_c_trap(c), unit = core_c_muldiv(c);
    const bool overflows = (trap == CORE_TRAP_overflow) & data(flags).overflow, zero = data(flags).zero;
    if (core_c_link(c))
      item.result = item.pc + 8;
    else if (unit == CORE_MULDIV_mfhi)
      item.result = data(hilo).hi;
    else if (unit == CORE_MULDIV_mflo)
      item.result = data(hilo).lo;
    else if (__builtin_expect(overflows, false))
      item.control = core_failed(CORE_TRAP_overflowed);
    else if (trap == CORE_TRAP_zero || trap == CORE_TRAP_nonzero)
      item.control = zero == (trap == CORE_TRAP_zero) ? core_failed(CORE_TRAP_taken) : CORE_CONTROL_IDLE;
  }
  send(out, item);
}

handler(accept) {
  accept(in, acked(out));
}

handler(start) {
  enable(muldiv, enabled(in) & acked(out));
}

handler(commit) {
  for (int i = 0; i < width(bypass); i++) enable(bypass, i, enabled(in));
  enable(a, enabled(in));
  enable(b, enabled(in));
  enable(op, enabled(in));
  enable(out, enabled(in));
}
