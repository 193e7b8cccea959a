// asker.c: asks for the answer to its cycle count; see duplex.lss.
phase_start() {
  send(port_ask, (uint32_t)cycle());
  accept(port_answer, true);
}
