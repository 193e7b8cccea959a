// rfu_decode.c: control words for the unit's instructions; see rfu_decode.lss.
#include "core/rfu/rfu.h"

handler(decode) {
  typeof_port(out) item = data(in);
  const bool known = rfu_requested(item.word) & (rfu_operation(item.word) < (uint32_t)param(operations));
  if (__builtin_expect(known & (control_word_trap(item.control) == trap_cause_reserved), false))
    item.control = rfu_control(item.word);
  send_if(out, some(in), item);
}

handler(accept) {
  accept(in, acked(out));
}

handler(commit) {
  enable(out, enabled(in));
}
