// bool_consumer.c: accepts everything; see bool_consumer.lss.
phase_start() {
  accept(in, true);
}
