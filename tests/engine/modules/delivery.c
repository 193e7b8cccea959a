// delivery.c: delivers each item a time after it was sent; see delivery.lss.
#define TICKS ((uint64_t)((unsigned __int128)param(delay) * ticks_per_second() / 1000000000000000))

handler(offer) {
  send_if(out, flight_due(way), flight_item(way));
}

phase_end(in) {
  if (!transferred(in)) return;
  flight_send(way, TICKS, data(in));
  count(sent);
}

phase_end(out) {
  self->left = transferred(out);
  if (!self->left && !(param(hasty) && flight_empty(way))) return;
  flight_drop(way);
  count(delivered);
}

next_event(in) {
  return unchanged(never());
}

next_event(out) {
  if (self->left) return cycle();
  if (flight_empty(way) || flight_due(way, clock_period())) return unchanged(never());
  return unchanged(cycle() + (flight_next(way) + clock_period() - 1) / clock_period());
}
