// several.c: takes what comes, and shows what it has counted; see several.lss.
phase_start() {
  send(reply, self->status);
  send(count, self->total);
  set(third, self->epc[0][0]);
}

handler(take) {
  accept(in, true);
  set(first, get(third));
  set(second, 0, some(in));
}

handler(answer) {
  enable(reply, get(second, 0));
  enable(count, acked(reply));
}

phase_end() {
  count(hits[0], transferred(in));
}
