// tee.c: fan-out; see tee.lss.
//
// A receiver's item is committed only when every receiver accepts, so a receiver that accepts alone gets nothing.

handler(forward, i) {
  if (some(in))
    send(out, i, item(in));
  else
    send_nothing(out, i);
}

handler(accept) {
  bool accepted = true;
  for (int i = 0; i < width(out); i++) accepted = accepted && acked(out, i);
  accept(in, accepted);
  set(all, accepted);
}

handler(commit, i) {
  enable(out, i, enabled(in) && get(all));
}
