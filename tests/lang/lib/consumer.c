// consumer.c: accepts everything; see consumer.lss.
phase_start() {
  for (int i = 0; i < width(in); i++) accept(in, i, true);
}
phase_end() {
  for (int i = 0; i < width(in); i++) count(items, transferred(in, i));
}
