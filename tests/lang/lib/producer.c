// producer.c: offers a number a cycle; see producer.lss.
phase_start() {
  send(out, self->next);
}
phase_end() {
  if (transferred(out)) self->next++;
}
