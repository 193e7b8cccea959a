/* bypass_network.c: newest values for operands; see bypass_network.lss. */
#include "core/core_control.h"

handler(forward) {
  typeof_port(out) item = data(in);
  const uint32_t rs = core_c_rs(item.control), rt = core_c_rt(item.control);
  /* Oldest first, so that what comes last counts. */
  for (int i = 0; i < width(writeback); i++) {
    const uint32_t dest = core_c_dest(data(writeback, i).control);
    item.a = dest == rs ? data(writeback, i).value : item.a;
    item.b = dest == rt ? data(writeback, i).value : item.b;
  }
  for (int i = 0; i < width(memory); i++) {
    const uint32_t dest = core_c_dest(data(memory, i).control);
    item.a = dest == rs ? data(memory, i).value : item.a;
    item.b = dest == rt ? data(memory, i).value : item.b;
  }
  const uint64_t sources = CORE_FIELD_MASK(6) << CORE_C_RS | CORE_FIELD_MASK(6) << CORE_C_RT;
  item.control =
      (item.control & ~sources) | (uint64_t)CORE_NO_SOURCE << CORE_C_RS | (uint64_t)CORE_NO_SOURCE << CORE_C_RT;
  send_if(out, some(in), item);
}

handler(accept) {
  accept(in, acked(out));
}

handler(commit) {
  enable(out, enabled(in));
}
