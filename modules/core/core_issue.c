// core_issue.c: registers, interlocks, branches; see core_issue.lss.
#include "core/core_control.h"

#define REGISTERS   32u
#define PRECISE     (width(kill) > 0)
#define KILLED      (PRECISE && data(kill))
#define HALTED      (width(stopped) > 0 && data(stopped))
#define JUMP_REGION 0x10000000u // bytes: a jump stays in that of its delay slot

static inline bool annulled(const self_t *self, bool fresh) {
  return self->annul & !fresh;
}

// An instruction waits for a load just before it or, a branch, for any result that is not in the memory stage yet; and
// for the multiply/divide unit.
handler(hold) {
  for (int i = 0; i < width(held); i++) send_if(held, i, some(in), data(in).pc);
  if (!some(in) || data(busy) || KILLED || (PRECISE && self->serial)) {
    set(go, false);
    set(hazard, PRECISE && self->serial && some(in) && !KILLED ? core_stall_structural : core_stall_fetch);
    return;
  }
  const control_word c = data(in).control;
  const uint32_t rs = control_word_rs(c), rt = control_word_rt(c);
  const control_word ex = data(execute).control, mem = data(memory).control;
  const bool in_execute = (rs == control_word_dest(ex)) | (rt == control_word_dest(ex));
  core_stall hazard = core_stall_load_use;
  bool waits = in_execute & control_word_loads(ex);
  if (control_word_branch(c) != branch_condition_never) {
    waits = in_execute | (((rs == control_word_dest(mem)) | (rt == control_word_dest(mem))) & control_word_loads(mem));
    hazard = core_stall_branch;
  } else if (__builtin_expect(control_word_muldiv(c) != muldiv_op_none, false)) {
    const bool occupied = core_occupies(ex) | !data(muldiv).ready;
    if (occupied) hazard = core_stall_multiply_divide;
    waits |= occupied;
  }
  set(hazard, hazard);
  set(go, !waits | annulled(self, data(in).fresh));
}

handler(read) {
  if (!get(go)) {
    send_nothing(registers_request, 0);
    send_nothing(registers_request, 1);
    return;
  }
  // Of a source that there is none any register is read: what it gives is not used.
  const control_word c = item(in).control;
  typeof_port(registers_request) rs = {.op = mem_op_read, .size = 4, .address = 4 * (control_word_rs(c) % REGISTERS)};
  typeof_port(registers_request) rt = {.op = mem_op_read, .size = 4, .address = 4 * (control_word_rt(c) % REGISTERS)};
  send(registers_request, 0, rs);
  send(registers_request, 1, rt);
}

// Where a branch or jump goes; `taken` says whether.
static inline uint32_t branch_to(control_word c, uint32_t pc, uint32_t immediate, uint32_t a, uint32_t b, bool *taken) {
  switch (control_word_branch(c)) {
  case branch_condition_eq: *taken = a == b; break;
  case branch_condition_ne: *taken = a != b; break;
  case branch_condition_lez: *taken = (int32_t)a <= 0; break;
  case branch_condition_gtz: *taken = (int32_t)a > 0; break;
  case branch_condition_ltz: *taken = (int32_t)a < 0; break;
  case branch_condition_gez: *taken = (int32_t)a >= 0; break;
  case branch_condition_jump: *taken = true; return ((pc + 4) & ~(JUMP_REGION - 1)) | immediate;
  case branch_condition_register: *taken = true; return a;
  default: *taken = true; return a + 8 * b;
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
  const control_word c = item(in).control;
  typeof_port(out) item = {.pc = item(in).pc,
                           .word = item(in).word,
                           .control = c,
                           .immediate = item(in).immediate,
                           .a = (uint32_t)data(registers_reply, 0).data,
                           .b = (uint32_t)data(registers_reply, 1).data};
  bool taken = false, annuls = false;
  uint32_t target = 0;
  if (__builtin_expect(annulled(self, item(in).fresh), false)) {
    item.control = CORE_CONTROL_IDLE | control_word_of_annulled(true);
  } else if (control_word_branch(c) != branch_condition_never) {
    const core_bypass mem = data(memory);
    const uint32_t newer = control_word_dest(mem.control);
    const uint32_t a = control_word_rs(c) == newer ? mem.value : item.a,
                   b = control_word_rt(c) == newer ? mem.value : item.b;
    target = branch_to(c, item.pc, item.immediate, a, b, &taken);
    annuls = control_word_likely(c) & !taken;
  }
  if (PRECISE && self->slot && !item(in).fresh) item.control |= control_word_of_slot(true);
  set(annuls, annuls);
  send(out, item);
  send_if(redirect, taken, target);
}

handler(accept) {
  accept(in, KILLED || (get(go) & acked(out)));
}

handler(commit) {
  for (int i = 0; i < width(held); i++) enable(held, i, enabled(in));
  enable(registers_request, 0, enabled(in));
  enable(registers_request, 1, enabled(in));
  enable(out, enabled(in));
  enable(redirect, enabled(in));
}

static __attribute__((noinline)) void turn_to(self_t *self, core_stall stall) {
  count_cycles(stalled[self->waiting], false);
  self->waiting = stall;
  count_cycles(stalled[stall], true);
  event(turn, stall);
}

// Why the execute stage takes nothing: a product for a register is not ready, or another instruction is in its way.
static inline core_stall refused_for(control_word executing) {
  return control_word_muldiv(executing) == muldiv_op_mul ? core_stall_multiply_divide : core_stall_structural;
}

// What may last is added up when it ends: as long as it lasts nothing changes here, and the processor can sleep.
static inline void wait_for(self_t *self, core_stall stall) {
  if (__builtin_expect(self->waiting != stall, false)) turn_to(self, stall);
}

phase_end() {
  const core_stall hazard = get(hazard);
  if (data(busy)) {
    wait_for(self, core_stall_memory);
  } else if (KILLED) {
    self->annul = self->slot = self->serial = false;
    wait_for(self, core_stall_fetch);
  } else if (transferred(in)) {
    const bool annulled_here = PRECISE && annulled(self, data(in).fresh);
    if (PRECISE) self->slot = !annulled_here && control_word_branch(data(in).control) != branch_condition_never;
    if (PRECISE) self->serial = !annulled_here && control_word_serializes(data(in).control);
    self->annul = get(annuls);
    wait_for(self, core_stall_none);
  } else if (get(go) || hazard < core_stall_load_use) {
    const core_stall here = HALTED ? core_stall_halted : hazard; // nothing is here then: it waits for fetch
    wait_for(self, get(go) ? refused_for(data(execute).control) : here);
  } else {
    count(stalled[hazard]);
    wait_for(self, core_stall_none);
  }
  if (transferred(in) && !KILLED) event(issue, data(in).pc);
  if (transferred(in) && KILLED) event(killed);
  if (some(in) && !transferred(in) && !data(busy))
    event(interlock, data(in).pc, get(go) ? refused_for(data(execute).control) : hazard);
}

statistics() {
  uint64_t cycles[8];
  for (int k = 0; k < 8; k++)
    cycles[k] = counted(stalled[k]) + (self->waiting == (core_stall)k ? cycle() : 0); // it has not ended yet
  counted(stall_fetch) = cycles[core_stall_fetch];
  counted(stall_memory) = cycles[core_stall_memory];
  counted(stall_multiply_divide) = cycles[core_stall_multiply_divide];
  counted(stall_structural) = cycles[core_stall_structural];
  counted(stall_load_use) = cycles[core_stall_load_use];
  counted(stall_branch) = cycles[core_stall_branch];
  counted(halted) = cycles[core_stall_halted];
  counted(issued) = cycles[core_stall_none] - cycles[core_stall_load_use] - cycles[core_stall_branch];
}

// A hazard that is counted in each cycle waits for nothing else.
next_event() {
  return unchanged(self->waiting == core_stall_none ? cycle() : never());
}
