// lanes.c: a fixed-priority choice among lanes; see lanes.lss.
handler(look, i) {
  bool offered = false;
  for (int k = 0; k < i; k++) offered |= some(in, k);
  set(before, i, offered);
}
handler(choose) {
  int lane = -1;
  for (int k = width(in) - 1; k >= 0; k--)
    if (some(in, k)) lane = k;
  set(winner, lane);
}
handler(pass) {
  int lane = get(winner);
  if (lane >= 0)
    send(out, data(in, lane));
  else
    send_nothing(out);
}
handler(commit) {
  enable(out, get(winner) >= 0 && enabled(in, get(winner)));
}
handler(grant, i) {
  accept(in, i, some(in, i) && !get(before, i) && acked(out));
}
