// operands.c: accepts everything; see operands.lss.
phase_start() {
  accept(in, true);
}
