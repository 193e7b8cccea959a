// chain_ripple.c: a register with combinational readiness; see chain_ripple.lss.
phase_start() {
  if (self->full) send(out, self->slot);
  else send_nothing(out);
}

handler(advance) { accept(in, !self->full || acked(out)); }

phase_end() {
  if (transferred(in)) {
    self->slot = data(in) + 1;
    self->full = true;
  } else if (transferred(out)) {
    self->full = false;
  }
}
