// core_writeback.c: the end of the pipeline; see core_writeback.lss.
#include "core/core_control.h"

handler(write) {
  core_bypass bypassed = {.control = CORE_CONTROL_IDLE};
  if (some(in)) bypassed = (core_bypass){.control = item(in).control, .value = item(in).value};
  const uint32_t dest = control_word_dest(bypassed.control);
  typeof_port(registers_request) request = {.op = mem_op_write, .size = 4, .address = 4 * dest, .data = bypassed.value};
  send_if(registers_request, dest < CORE_NO_DEST, request);
  for (int i = 0; i < width(bypass); i++) send(bypass, i, bypassed);
}

handler(notify_done) {
  for (int i = 0; i < width(done); i++)
    send_if(done, i, some(in) & !data(busy), !(some(in) && control_word_annulled(item(in).control)));
}

handler(accept) {
  accept(in, !data(busy));
}

handler(commit) {
  enable(registers_request, enabled(in));
  for (int i = 0; i < width(bypass); i++) enable(bypass, i, enabled(in));
  for (int i = 0; i < width(done); i++) enable(done, i, enabled(in));
}

static inline void remember(self_t *self, uint32_t pc) {
  note(pc, pc);
  if (pc != self->following) note(history, (core_jump){.behind = self->following, .to = pc});
  self->following = pc + 4 * (uint32_t)param(words);
}

phase_end() {
  if (!transferred(in)) return;
  const control_word c = data(in).control;
  if (__builtin_expect((c & (control_word_of_annulled(true) | control_word_of_trap(~0))) != 0, false)) {
    if (control_word_annulled(c)) {
      event(annulled);
      return;
    }
    const trap_cause trap = control_word_trap(c);
    if (trap >= trap_cause_syscall) remember(self, data(in).pc); // for the report
    if (trap == trap_cause_unaligned || trap == trap_cause_access)
      sim_error("%s: address 0x%08x, pc 0x%08x, instruction 0x%08x", core_trap_text(trap), (unsigned)data(in).value,
                (unsigned)data(in).pc, (unsigned)data(in).word);
    if (trap >= trap_cause_syscall)
      sim_error("%s: pc 0x%08x, instruction 0x%08x", core_trap_text(trap), (unsigned)data(in).pc,
                (unsigned)data(in).word);
  }
  remember(self, data(in).pc);
  count(instructions);
  event(retire, data(in).pc, data(in).word, data(in).value, (uint8_t)control_word_dest(c));
  const uint32_t number = call(marker, data(in).word);
  if (number) event(marker, number);
}

next_event() {
  return unchanged(never());
}
