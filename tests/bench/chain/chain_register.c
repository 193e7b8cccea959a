// chain_register.c: two slots, registered in both directions; see chain_register.lss.  Whether an item moves is as good
// as random here, so what follows from it is written as selections and not as branches.
phase_start() {
  send_if(out, self->count != 0, self->head);
  accept(in, self->count < 2);
}

phase_end() {
  const bool taken = transferred(out), given = transferred(in);
  const uint32_t tail = self->tail, head = taken ? tail : self->head;
  const uint8_t count = self->count - taken;
  self->head = (given & (count == 0)) ? data(in) + 1 : head;
  self->tail = given ? data(in) + 1 : tail;
  self->count = count + given;
}
