// line_sender.c: an item for each that was taken; see line_sender.lss.
phase_start() {
  send(out, (line_item){self->next});
}
phase_end() {
  if (transferred(out)) self->next++;
}
