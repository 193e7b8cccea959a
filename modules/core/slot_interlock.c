/* slot_interlock.c: which instructions ahead concern one slot; see slot_interlock.lss. */
#include "core/mips_control.h"

static inline bool reads(uint64_t control, uint32_t dest) { return (dest == mips_c_rs(control)) | (dest == mips_c_rt(control)); }

handler(show) {
  const uint64_t control = data(in).control;
  const mips_bypass none = {.control = MIPS_CONTROL_IDLE};
  mips_bypass waited = none;
  for (int i = 0; i < width(execute); i++) {
    const uint64_t ahead = data(execute, i).control;
    const bool concerns = reads(control, mips_c_dest(ahead)) & (mips_c_loads(ahead) | !mips_c_loads(waited.control));
    if (concerns)
      waited = data(execute, i);
  }
  /* The newest value of each source; the later slot's of one bundle. */
  int of_rs = -1, of_rt = -1;
  for (int i = 0; i < width(memory); i++) {
    if (mips_c_dest(data(memory, i).control) == mips_c_rs(control))
      of_rs = i;
    if (mips_c_dest(data(memory, i).control) == mips_c_rt(control))
      of_rt = i;
  }
  mips_bypass read = none;
  for (int i = 0; i < width(memory); i++)
    if (i == of_rs || i == of_rt)
      read = data(memory, i);
  if (of_rs >= 0 && of_rt >= 0 && of_rs != of_rt)
    read.control |= UINT64_C(1) << MIPS_C_LOADS; /* one way for two values: a branch waits until they are written */
  typeof_port(out) item = data(in);
  if (!param(branches) && mips_c_branch(control) != MIPS_BRANCH_never)
    item.control = mips_failed(MIPS_TRAP_reserved);
  send_if(out, some(in), item);
  send(executing, waited);
  send(referring, read);
}

handler(accept) { accept(in, acked(out)); }

handler(agree) {
  for (int i = 0; i < width(execute); i++)
    accept(execute, i, acked(executing));
  for (int i = 0; i < width(memory); i++)
    accept(memory, i, acked(referring));
}

handler(commit) { enable(out, enabled(in)); }

handler(mean) {
  bool meant = true;
  for (int i = 0; i < width(execute); i++)
    meant &= enabled(execute, i);
  for (int i = 0; i < width(memory); i++)
    meant &= enabled(memory, i);
  enable(executing, meant);
  enable(referring, meant);
}
