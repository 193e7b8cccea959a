// relay.c: a one-entry register; see relay.lss.
phase_start() {
  if (self->full)
    send(out, self->slot);
  else
    send_nothing(out);
}
handler(advance) {
  accept(in, !self->full || acked(out));
}
phase_end() {
  if (transferred(out)) self->full = false;
  if (transferred(in)) {
    self->slot = data(in);
    self->full = true;
  }
}
