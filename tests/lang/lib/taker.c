// taker.c: takes whatever comes; see taker.lss.
phase_start() {
  send(out, self->taken);
}

phase_end() {
  self->taken += transferred(in);
}
