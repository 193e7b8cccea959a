// bypass_network.c: newest values for operands; see bypass_network.lss.
#include "core/core_control.h"

handler(forward) {
  typeof_port(out) item = data(in);
  const uint32_t rs = control_word_rs(item.control), rt = control_word_rt(item.control);
  // Oldest first, so that what comes last counts.
  for (int i = 0; i < width(writeback); i++) {
    const uint32_t dest = control_word_dest(data(writeback, i).control);
    item.a = dest == rs ? data(writeback, i).value : item.a;
    item.b = dest == rt ? data(writeback, i).value : item.b;
  }
  for (int i = 0; i < width(memory); i++) {
    const uint32_t dest = control_word_dest(data(memory, i).control);
    item.a = dest == rs ? data(memory, i).value : item.a;
    item.b = dest == rt ? data(memory, i).value : item.b;
  }
  item.control = control_word_set_rt(control_word_set_rs(item.control, CORE_NO_SOURCE), CORE_NO_SOURCE);
  send_if(out, some(in), item);
}

handler(accept) {
  accept(in, acked(out));
}

handler(commit) {
  enable(out, enabled(in));
}
