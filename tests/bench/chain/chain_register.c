// chain_register.c: two slots, registered in both directions; see chain_register.lss.  Whether an item moves is as good
// as random here, so what follows from it is written as selections and not as branches.
phase_start() {
  send_if(out, self->count != 0, self->head);
  accept(in, self->count < 2);
}

phase_end() {
  const bool taken = transferred(out), given = transferred(in);
  const uint32_t tail = self->tail, first = self->head, head = taken ? tail : first;
  const uint8_t count = self->count - taken;
  const uint32_t value = data(in) + 1;
  self->head = (given & (count == 0)) ? value : head;
  self->tail = given ? value : tail;
  self->count = count + given;
}
