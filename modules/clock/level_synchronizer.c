// level_synchronizer.c: a value seen from another clock domain; see level_synchronizer.lss.

handler(send_latest) {
  send(out, self->since < now() ? self->latest : self->before);
}

phase_end(in) {
  if (!some(in)) return;
  self->before = self->latest;
  self->latest = data(in);
  self->since = now();
}

next_event(in) {
  return never();
}

/* What was sent before the latest edge of this side, or at it, is new at the coming one. */
next_event(out) {
  return self->since + clock_period() >= now() ? cycle() : never();
}
