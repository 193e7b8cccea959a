// line_taker.c: counts items; see line_taker.lss.
phase_end() {
  if (transferred(in)) count(items);
}
