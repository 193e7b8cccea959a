// demux.c: 1-to-N demultiplexer; see demux.lss.

handler(steer) {
  int32_t chosen = -1;
  if (some(in) && (width(select) == 0 || some(select))) {
    int32_t selected = -1;
    if (width(select) > 0) selected = data(select);
    chosen = call(route, data(in), selected);
    if (chosen < -1 || chosen >= width(out))
      sim_error("an item is routed to lane %d, there are %d", (int)chosen, width(out));
  }
  set(lane, chosen);
  for (int i = 0; i < width(out); i++) {
    if (chosen == i)
      send(out, i, data(in));
    else
      send_nothing(out, i);
  }
}

handler(commit) {
  for (int i = 0; i < width(out); i++) enable(out, i, get(lane) == i && enabled(in));
}

handler(accept) {
  bool accepted = false;
  for (int i = 0; i < width(out); i++) accepted |= get(lane) == i && acked(out, i);
  accept(in, accepted);
}

phase_end() {
  for (int i = 0; i < width(out); i++)
    if (transferred(out, i)) event(routed, i);
}
