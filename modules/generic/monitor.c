// monitor.c: passes items through and records the three signals; see monitor.lss.

init() {
  if (param(record)[0] != '\0') stream_write_open(&self->file, param(record));
}

handler(forward, i) {
  send_if(out, i, some(in, i), data(in, i));
}

handler(commit, i) {
  enable(out, i, enabled(in, i));
}

handler(accept, i) {
  accept(in, i, acked(out, i));
}

phase_end() {
  const bool records = param(record)[0] != '\0';
  self->stalled = self->cancelled = 0;
  for (int i = 0; i < width(in); i++) {
    bool present = some(in, i);
    if (present) {
      if (transferred(in, i)) {
        count(transfers);
        event(passed, i);
      } else if (!acked(out, i)) {
        self->stalled++;
      } else {
        self->cancelled++;
      }
    }
    if (records && (present || param(idle))) {
      char text[4096] = "-";
      if (present) type_print(in, &data(in, i), text, sizeof text);
      stream_printf(&self->file, "%llu %d %s %d %d\n", (unsigned long long)cycle(), i, text, enabled(in, i),
                    acked(out, i));
    }
  }
  count(stalls, self->stalled);
  count(cancels, self->cancelled);
}

// Cycles in which nothing but time passes are not stepped: what waited in the last one waits in each of them.
skip(n) {
  count(stalls, n * self->stalled);
  count(cancels, n * self->cancelled);
}

next_event() {
  const bool repeats = self->stalled || self->cancelled || param(idle);
  return param(record)[0] != '\0' && repeats ? cycle() : never();
}
