// line_cable.c: one item at a time; see line_cable.lss.
phase_start() {
  accept(in, !self->full && self->left == 0);
  send_if(out, self->full && self->left == 0, self->slot);
}
phase_end() {
  if (self->left) self->left--;
  if (transferred(out)) self->full = false;
  if (transferred(in)) {
    self->slot = data(in);
    self->full = true;
    self->left = (uint32_t)param(cycles);
  }
}
