// stepper.c: steps emulib's interpreter; see stepper.lss.
#include <string.h>

#include "stepper.h"

init() {
  self->next_pc = 4;
}

phase_end() {
  struct mips_interpreter m;
  stepper_program program = {.count = (uint32_t)param_length(words)};
  for (uint32_t k = 0; k < program.count; k++) program.words[k] = (uint32_t)param(words)[k];
  const struct guest_memory memory = {.user = &program, .read = stepper_read, .write = stepper_write};
  mips_interpreter_init(&m, MIPS_SET_mips2, true, memory, self->pc);
  memcpy(m.r, self->r, sizeof m.r);
  m.next_pc = self->next_pc;
  const enum mips_stop stop = mips_interpreter_step(&m);
  memcpy(self->r, m.r, sizeof m.r);
  self->pc = m.pc;
  self->next_pc = m.next_pc;
  count(instructions, m.retired);
  report(result, m.r[2]);
  if (stop == MIPS_STOP_BREAKPOINT)
    sim_exit(0, "the program ended");
  else if (stop != MIPS_RUNNING)
    sim_error("%s at 0x%08x", mips_stop_text(stop), (unsigned)m.pc);
}
