// core_execute.c: operands and results; see core_execute.lss.
#include "core/core_control.h"

#define KILLED (width(kill) > 0 && data(kill))

handler(send_bypass) {
  const core_bypass bypassed = {.control = some(in) ? data(in).control : CORE_CONTROL_IDLE};
  for (int i = 0; i < width(bypass); i++) send(bypass, i, bypassed);
}

// Instructions on bits have the field as their immediate.
static inline bit_field field_of(uint32_t immediate) {
  return (bit_field){.position = immediate & 31, .size = (uint8_t)(immediate >> CORE_FIELD_SIZE)};
}

// Newest value first: the memory stage's, the write-back stage's, what was read from the register file.  Sources and
// destinations that are none have different numbers.
handler(operate) {
  if (!some(in)) {
    set(second, 0);
    send_nothing(a);
    send_nothing(b);
    send_nothing(op);
    for (int i = 0; i < width(field); i++) send_nothing(field, i);
    send_nothing(muldiv);
    return;
  }
  const control_word c = data(in).control;
  const uint32_t rs = control_word_rs(c), rt = control_word_rt(c);
  const uint32_t newer = control_word_dest(data(memory).control), older = control_word_dest(data(writeback).control);
  uint32_t first = rs == older ? data(writeback).value : data(in).a;
  uint32_t other = rt == older ? data(writeback).value : data(in).b;
  first = rs == newer ? data(memory).value : first;
  other = rt == newer ? data(memory).value : other;
  const alu_source sa = control_word_a(c), sb = control_word_b(c);
  const uint32_t alu_a = sa == alu_source_rt ? other : sa == alu_source_rs ? first : 0;
  // As good as random, so by index and without a branch.
  const uint32_t sources[] = {
      [alu_source_zero] = 0, [alu_source_rs] = first, [alu_source_rt] = other, [alu_source_imm] = data(in).immediate};
  const uint32_t alu_b = sources[sb];
  set(second, other);
  send(a, alu_a);
  send(b, alu_b);
  send(op, control_word_alu(c));
  for (int i = 0; i < width(field); i++) send(field, i, field_of(data(in).immediate));
  const muldiv_op unit = control_word_muldiv(c);
  typeof_port(muldiv) request = {.op = unit, .a = first, .b = other};
  send_if(muldiv, unit != muldiv_op_none, request);
}

static inline bool moves(move_condition condition, uint32_t value) {
  return condition == move_condition_none || (value == 0) == (condition == move_condition_zero);
}

handler(collect) {
  if (!some(in) || KILLED) {
    set(stays, false);
    send_nothing(out);
    return;
  }
  const control_word c = data(in).control;
  typeof_port(out)
      item = {.pc = data(in).pc, .word = data(in).word, .control = c, .result = data(result), .b = get(second)};
  bool ready = true;
  if (__builtin_expect(control_word_unusual(c), false)) {
    const trap_cause trap = control_word_trap(c);
    const muldiv_op unit = control_word_muldiv(c);
    const bool overflows = (trap == trap_cause_overflow) & data(flags).overflow, zero = data(flags).zero;
    if (control_word_link(c))
      item.result = item.pc + 8;
    else if (unit == muldiv_op_mfhi)
      item.result = data(hilo).hi;
    else if (unit == muldiv_op_mflo)
      item.result = data(hilo).lo;
    else if (unit == muldiv_op_mul && width(product) == 0)
      item.control = core_failed(trap_cause_reserved);
    else if (!moves(control_word_move(c), get(second)))
      item.control = control_word_set_dest(c, CORE_NO_DEST);
    else if (__builtin_expect(overflows, false))
      item.control = core_failed(trap_cause_overflowed);
    else if (trap == trap_cause_zero || trap == trap_cause_nonzero)
      item.control = zero == (trap == trap_cause_zero) ? core_failed(trap_cause_taken) : CORE_CONTROL_IDLE;
    for (int i = 0; i < width(product) && unit == muldiv_op_mul; i++) {
      item.result = data(product, i).value;
      ready = data(product, i).ready;
    }
    if (width(kill) > 0) item.control |= c & control_word_of_slot(true);
  }
  set(stays, !ready);
  send_if(out, ready, item);
}

handler(accept) {
  accept(in, KILLED || (!get(stays) & acked(out)));
}

handler(start) {
  enable(muldiv, enabled(in) & !KILLED & !get(stays) & acked(out));
}

handler(commit) {
  for (int i = 0; i < width(bypass); i++) enable(bypass, i, enabled(in));
  enable(a, enabled(in));
  enable(b, enabled(in));
  enable(op, enabled(in));
  for (int i = 0; i < width(field); i++) enable(field, i, enabled(in));
  enable(out, enabled(in));
}
