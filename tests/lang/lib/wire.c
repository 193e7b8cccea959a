// wire.c: a combinational path; see wire.lss.
handler(forward) {
  if (some(in))
    send(out, data(in));
  else
    send_nothing(out);
}
handler(commit) {
  enable(out, enabled(in));
}
handler(accept) {
  accept(in, acked(out));
}
