// selector.c: passes one of two inputs; see selector.lss.
phase_start() {
  accept(a, true);
  accept(b, true);
}

handler(pass) {
  for (int i = 0; i < width(out); i++) {
    if (param(first) && is_known(data, a))
      send(out, i, data(a) + 1);
    else if (!param(first) && is_known(data, b))
      send(out, i, data(b) + 1);
  }
}

handler(commit) {
  for (int i = 0; i < width(out); i++) {
    if (param(first) && is_known(enable, a))
      enable(out, i, enabled(a));
    else if (!param(first) && is_known(enable, b))
      enable(out, i, enabled(b));
  }
}

phase_end() {
  self->cycles++;
}
