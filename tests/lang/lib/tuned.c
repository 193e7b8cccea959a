// tuned.c: accepts everything; see tuned.lss.
phase_start() {
  accept(in, true);
}
