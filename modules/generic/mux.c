// mux.c: N-to-1 multiplexer; see mux.lss.

handler(pick) {
  uint64_t offered = 0;
  for (int i = 0; i < width(in); i++) offered |= (uint64_t)some(in, i) << i;
  int32_t lane = -1;
  if (width(select) == 0 || some(select)) {
    int32_t selected = -1;
    if (width(select) > 0) selected = data(select);
    lane = call(choose, offered, selected, self->last);
    if (lane < -1 || lane >= width(in)) sim_error("lane %d is chosen, there are %d", (int)lane, width(in));
  }
  if (lane >= 0 && !(offered >> lane & 1)) lane = -1;
  set(winner, lane);
  bool sent = false;
  for (int i = 0; i < width(in); i++) {
    if (lane == i) {
      send(out, data(in, i));
      sent = true;
    }
  }
  if (!sent) send_nothing(out);
}

handler(commit) {
  bool committed = false;
  for (int i = 0; i < width(in); i++) committed |= get(winner) == i && enabled(in, i);
  enable(out, committed);
}

handler(accept) {
  for (int i = 0; i < width(in); i++) accept(in, i, get(winner) == i && acked(out));
}

phase_end() {
  self->changed = transferred(out) && self->last != get(winner);
  if (transferred(out)) {
    self->last = get(winner);
    event(chosen, get(winner));
  }
}

next_event() {
  return self->changed ? cycle() : never();
}
