// delay_wire.c: delivers each item a time after it was sent; see delay_wire.lss.
handler(offer) {
  send_if(out, flight_due(way), flight_item(way));
}
phase_end(in) {
  if (!transferred(in)) return;
  flight_send(way, (uint64_t)((double)param(delay) * 1e-15 * (double)ticks_per_second()), item(in));
  count(sent);
}
phase_end(out) {
  if (!transferred(out)) return;
  flight_drop(way);
  count(taken);
  event(arrived);
}
