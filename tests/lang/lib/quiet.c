// quiet.c: a sender without items; see quiet.lss.
phase_start() {
  send_nothing(out);
}
