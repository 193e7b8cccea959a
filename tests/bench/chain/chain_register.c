// chain_register.c: two slots, registered in both directions; see chain_register.lss.
phase_start() {
  if (self->count) send(out, self->head);
  else send_nothing(out);
  accept(in, self->count < 2);
}

phase_end() {
  if (transferred(out)) {
    self->head = self->tail;
    self->count--;
  }
  if (transferred(in)) {
    if (self->count) self->tail = data(in) + 1;
    else self->head = data(in) + 1;
    self->count++;
  }
}
