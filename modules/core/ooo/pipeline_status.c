/* pipeline_status.c: whether an out-of-order core is halted and empty; see pipeline_status.lss. */

handler(show, i) {
  const bool all = some(fetch) & some(room) & some(renamed) & some(list) & some(drained);
  core_status now = {0};
  if (all) {
    now = data(list);
    now.halted &=
        data(fetch).halted & (data(room).of[0] == (uint32_t)param(depth)) & (data(renamed).count == 0) & data(drained);
    if (now.pc == 0) now.pc = data(fetch).pc;
  }
  send(status, i, now);
}
