// answerer.c: takes questions and offers the one answer; see duplex.lss.
phase_start() {
  accept(port_ask, true);
  send(port_answer, 42);
}
