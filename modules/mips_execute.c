/* mips_execute.c: operands and results; see mips_execute.lss. */
#include "mips_control.h"

phase_start() {
  accept(result, true);
  accept(flags, true);
  accept(hilo, true);
  accept(memory, true);
  accept(writeback, true);
}

handler(show) {
  const uint64_t c = data(in).control;
  const uint32_t unit = mips_c_muldiv(c);
  mips_bypass shown = {.dest = (uint8_t)mips_c_dest(c), .loads = mips_c_loads(c), .occupies = unit >= muldiv_op_mult && unit <= muldiv_op_divu};
  for (int i = 0; i < width(bypass); i++)
    send_if(bypass, i, some(in), shown);
}

handler(operate) {
  const uint64_t c = data(in).control;
  const uint32_t rs = mips_c_rs(c), rt = mips_c_rt(c);
  const uint32_t mem_dest = some(memory) ? data(memory).dest : MIPS_NO_DEST, wb_dest = some(writeback) ? data(writeback).dest : MIPS_NO_DEST;
  uint32_t first = rs == wb_dest ? data(writeback).value : data(in).a;
  uint32_t other = rt == wb_dest ? data(writeback).value : data(in).b;
  first = rs == mem_dest ? data(memory).value : first;
  other = rt == mem_dest ? data(memory).value : other;
  const uint32_t sa = mips_c_a(c), sb = mips_c_b(c);
  const uint32_t alu_a = sa == MIPS_A_rs ? first : sa == MIPS_A_rt ? other : 0;
  const uint32_t alu_b = sb == MIPS_B_imm ? data(in).immediate : sb == MIPS_B_rt ? other : sb == MIPS_B_rs ? first : 0;
  set(second, other);
  send_if(a, some(in), alu_a);
  send_if(b, some(in), alu_b);
  send_if(op, some(in), (alu_op)mips_c_alu(c));
  const uint32_t unit = mips_c_muldiv(c);
  typeof_port(muldiv) request = {.op = (muldiv_op)unit, .a = first, .b = other};
  send_if(muldiv, some(in) & (unit != 0), request);
}

handler(collect) {
  const uint64_t c = data(in).control;
  typeof_port(out) item = {.pc = data(in).pc, .word = data(in).word, .control = c, .result = data(result), .b = get(second)};
  if (mips_c_link(c))
    item.result = item.pc + 8;
  if (mips_c_muldiv(c) == muldiv_op_mfhi)
    item.result = data(hilo).hi;
  else if (mips_c_muldiv(c) == muldiv_op_mflo)
    item.result = data(hilo).lo;
  const uint32_t trap = mips_c_trap(c);
  if (__builtin_expect(trap != MIPS_TRAP_none, false)) {
    if (trap == MIPS_TRAP_overflow) {
      if (data(flags).overflow)
        item.control = mips_failed(MIPS_TRAP_overflowed);
    } else if (trap == MIPS_TRAP_zero || trap == MIPS_TRAP_nonzero) {
      item.control = data(flags).zero == (trap == MIPS_TRAP_zero) ? mips_failed(MIPS_TRAP_taken) : MIPS_CONTROL_IDLE;
    }
  }
  send_if(out, some(in), item);
}

handler(accept) { accept(in, acked(out)); }

handler(commit) {
  for (int i = 0; i < width(bypass); i++)
    enable(bypass, i, enabled(in));
  enable(a, enabled(in));
  enable(b, enabled(in));
  enable(op, enabled(in));
  enable(muldiv, enabled(in));
  enable(out, enabled(in));
}
