// slow_hop.c: a slot between two clocks; see slow_hop.lss.
init() {
  self->latency_left = param(latency);
}
handler(reset, latency) {
  self->latency_left = param(latency);
}
phase_start() {
  accept(in, !self->full);
  send_if(out, self->full && self->latency_left <= 0, self->item);
}
phase_end(in) {
  if (!transferred(in)) return;
  self->item = data(in);
  self->full = true;
}
phase_end(out) {
  self->latency_left -= self->full;
  if (transferred(out)) self->full = false;
}
