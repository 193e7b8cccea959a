/* mips_issue.c: registers, interlocks, branches; see mips_issue.lss. */
#include "core/mips_control.h"

static inline bool annulled(const self_t *self, bool fresh) { return self->annul & !fresh; }

/* An instruction waits for a load just before it or, a branch, for any result that is not in the memory stage yet; and
 * for the multiply/divide unit. */
handler(hold) {
  if (!some(in) || data(busy)) {
    set(go, false);
    return;
  }
  const uint64_t c = data(in).control;
  const uint32_t rs = mips_c_rs(c), rt = mips_c_rt(c);
  const uint64_t ex = data(execute).control, mem = data(memory).control;
  const bool in_execute = (rs == mips_c_dest(ex)) | (rt == mips_c_dest(ex));
  bool waits = in_execute & mips_c_loads(ex);
  if (mips_c_branch(c) != MIPS_BRANCH_never)
    waits = in_execute | (((rs == mips_c_dest(mem)) | (rt == mips_c_dest(mem))) & mips_c_loads(mem));
  else if (__builtin_expect(mips_c_muldiv(c) != MIPS_MULDIV_none, false))
    waits |= mips_occupies(ex) | !data(muldiv).ready;
  set(go, !waits | annulled(self, data(in).fresh));
}

handler(read) {
  if (!get(go)) {
    send_nothing(registers_request, 0);
    send_nothing(registers_request, 1);
    return;
  }
  const uint32_t word = item(in).word;
  typeof_port(registers_request) rs = {.op = mem_op_read, .size = 4, .address = 4 * mips_rs(word)};
  typeof_port(registers_request) rt = {.op = mem_op_read, .size = 4, .address = 4 * mips_rt(word)};
  send(registers_request, 0, rs);
  send(registers_request, 1, rt);
}

/* Where a branch or jump goes; `taken` tells whether. */
static inline uint32_t branch_to(uint64_t c, uint32_t pc, uint32_t word, uint32_t immediate, uint32_t a, uint32_t b, bool *taken) {
  switch (mips_c_branch(c)) {
  case MIPS_BRANCH_eq:
    *taken = a == b;
    break;
  case MIPS_BRANCH_ne:
    *taken = a != b;
    break;
  case MIPS_BRANCH_lez:
    *taken = (int32_t)a <= 0;
    break;
  case MIPS_BRANCH_gtz:
    *taken = (int32_t)a > 0;
    break;
  case MIPS_BRANCH_ltz:
    *taken = (int32_t)a < 0;
    break;
  case MIPS_BRANCH_gez:
    *taken = (int32_t)a >= 0;
    break;
  case MIPS_BRANCH_jump:
    *taken = true;
    return mips_jump_target(pc, word);
  case MIPS_BRANCH_register:
    *taken = true;
    return a;
  default:
    *taken = true;
    return a + 8 * b;
  }
  return pc + 4 + immediate;
}

handler(resolve) {
  if (!get(go)) {
    set(annuls, false);
    send_nothing(out);
    send_nothing(redirect);
    return;
  }
  const uint64_t c = item(in).control;
  typeof_port(out) item = {.pc = item(in).pc, .word = item(in).word, .control = c, .immediate = item(in).immediate,
                           .a = (uint32_t)data(registers_reply, 0).data, .b = (uint32_t)data(registers_reply, 1).data};
  bool taken = false, annuls = false;
  uint32_t target = 0;
  if (__builtin_expect(annulled(self, item(in).fresh), false)) {
    item.control = MIPS_CONTROL_IDLE | UINT64_C(1) << MIPS_C_ANNULLED;
  } else if (mips_c_branch(c) != MIPS_BRANCH_never) {
    const mips_bypass mem = data(memory);
    const uint32_t newer = mips_c_dest(mem.control);
    const uint32_t a = mips_c_rs(c) == newer ? mem.value : item.a, b = mips_c_rt(c) == newer ? mem.value : item.b;
    target = branch_to(c, item.pc, item.word, item.immediate, a, b, &taken);
    annuls = mips_c_likely(c) & !taken;
  }
  set(annuls, annuls);
  send(out, item);
  send_if(redirect, taken, target);
}

handler(accept) { accept(in, get(go) & acked(out)); }

handler(commit) {
  enable(registers_request, 0, enabled(in));
  enable(registers_request, 1, enabled(in));
  enable(out, enabled(in));
  enable(redirect, enabled(in));
}

phase_end() {
  if (transferred(in))
    self->annul = get(annuls);
  else if (some(in) && !data(busy))
    event(interlock, data(in).pc);
}

next_event() { return never(); }
