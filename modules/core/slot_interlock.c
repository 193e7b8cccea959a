// slot_interlock.c: which instructions ahead concern one slot; see slot_interlock.lss.
#include "core/core_control.h"

static inline bool reads(control_word control, uint32_t dest) {
  return (dest == control_word_rs(control)) | (dest == control_word_rt(control));
}

handler(forward) {
  const control_word control = data(in).control;
  const core_bypass none = {.control = CORE_CONTROL_IDLE};
  core_bypass waited = none;
  for (int i = 0; i < width(execute); i++) {
    const control_word ahead = data(execute, i).control;
    const bool concerns =
        reads(control, control_word_dest(ahead)) & (control_word_loads(ahead) | !control_word_loads(waited.control));
    if (concerns) waited = data(execute, i);
  }
  // The newest value of each source; the later slot's of one bundle.
  int of_rs = -1, of_rt = -1;
  for (int i = 0; i < width(memory); i++) {
    if (control_word_dest(data(memory, i).control) == control_word_rs(control)) of_rs = i;
    if (control_word_dest(data(memory, i).control) == control_word_rt(control)) of_rt = i;
  }
  core_bypass read = none;
  for (int i = 0; i < width(memory); i++)
    if (i == of_rs || i == of_rt) read = data(memory, i);
  if (of_rs >= 0 && of_rt >= 0 && of_rs != of_rt)
    read.control =
        control_word_set_loads(read.control, true); // one way for two values: a branch waits until they are written
  typeof_port(out) item = data(in);
  if (!param(branches) && control_word_branch(control) != branch_condition_never)
    item.control = core_failed(trap_cause_reserved);
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
