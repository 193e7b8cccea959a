/* slot_interlock.c: which instructions ahead concern one slot; see slot_interlock.lss. */
#include "core/core_control.h"

static inline bool reads(uint64_t control, uint32_t dest) {
  return (dest == core_c_rs(control)) | (dest == core_c_rt(control));
}

handler(forward) {
  const uint64_t control = data(in).control;
  const core_bypass none = {.control = CORE_CONTROL_IDLE};
  core_bypass waited = none;
  for (int i = 0; i < width(execute); i++) {
    const uint64_t ahead = data(execute, i).control;
    const bool concerns = reads(control, core_c_dest(ahead)) & (core_c_loads(ahead) | !core_c_loads(waited.control));
    if (concerns) waited = data(execute, i);
  }
  /* The newest value of each source; the later slot's of one bundle. */
  int of_rs = -1, of_rt = -1;
  for (int i = 0; i < width(memory); i++) {
    if (core_c_dest(data(memory, i).control) == core_c_rs(control)) of_rs = i;
    if (core_c_dest(data(memory, i).control) == core_c_rt(control)) of_rt = i;
  }
  core_bypass read = none;
  for (int i = 0; i < width(memory); i++)
    if (i == of_rs || i == of_rt) read = data(memory, i);
  if (of_rs >= 0 && of_rt >= 0 && of_rs != of_rt)
    read.control |= UINT64_C(1) << CORE_C_LOADS; /* one way for two values: a branch waits until they are written */
  typeof_port(out) item = data(in);
  if (!param(branches) && core_c_branch(control) != CORE_BRANCH_never) item.control = core_failed(CORE_TRAP_reserved);
  send_if(out, some(in), item);
  send(executing, waited);
  send(referring, read);
}

handler(accept) {
  accept(in, acked(out));
}

handler(accept_forwarded) {
  for (int i = 0; i < width(execute); i++) accept(execute, i, acked(executing));
  for (int i = 0; i < width(memory); i++) accept(memory, i, acked(referring));
}

handler(commit) {
  enable(out, enabled(in));
}

handler(commit_forwarded) {
  bool committed = true;
  for (int i = 0; i < width(execute); i++) committed &= enabled(execute, i);
  for (int i = 0; i < width(memory); i++) committed &= enabled(memory, i);
  enable(executing, committed);
  enable(referring, committed);
}
