// chooser.c: asks its userpoint; see chooser.lss.
handler(take) {
  accept(in, some(in) && data(in) < param(limit) && call(choose, data(in)));
}
