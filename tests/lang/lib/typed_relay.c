// typed_relay.c: never carries anything; see typed_relay.lss.
phase_start() {
  send_nothing(out);
  accept(in, false);
}
