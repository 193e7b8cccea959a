// wired_or.c: level lines on one wire; see wired_or.lss.
//
// It has no state, so it repeats its last cycle as long as the lines do, and lets idle time be left out.

handler(join) {
  bool level = false;
  for (int i = 0; i < width(in); i++) level |= some(in, i) && item(in, i);
  send(out, level);
}

handler(commit) {
  bool committed = true;
  for (int i = 0; i < width(in); i++) committed &= !some(in, i) || enabled(in, i);
  enable(out, committed);
}

handler(accept) {
  for (int i = 0; i < width(in); i++) accept(in, i, acked(out));
}
