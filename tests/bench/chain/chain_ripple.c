// chain_ripple.c: a register with combinational readiness; see chain_ripple.lss.  Whether an item moves is as good as
// random here, so what follows from it is written as selections and not as branches.
phase_start() {
  send_if(out, self->full, self->slot);
}

handler(advance) {
  accept(in, !self->full | acked(out));
}

phase_end() {
  const bool given = transferred(in), kept = self->full & !acked(out);
  const uint32_t slot = self->slot;
  self->slot = given ? data(in) + 1 : slot;
  self->full = given | kept;
}
