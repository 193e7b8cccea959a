// hop.c: a slot that each side sees as it was before this instant; see hop.lss.
handler(space) {
  accept(in, self->puts == self->takes && now() >= self->taken_at);
}
handler(offer) {
  send_if(out, self->puts != self->takes && now() >= self->put_at, self->slot);
  enable(out, true);
}
phase_end(in) {
  if (transferred(in)) {
    self->slot = data(in);
    self->puts++;
    self->put_at = now() + 1;
  }
}
phase_end(out) {
  if (transferred(out)) {
    self->takes++;
    self->taken_at = now() + 1;
  }
}
