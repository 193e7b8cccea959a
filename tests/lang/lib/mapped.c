// mapped.c: values, and places among them; see mapped.lss.
phase_end() {
  self->one++;
}
