// memory_gate.c: as many requests in a cycle as there are ports; see memory_gate.lss.

handler(pass) {
  int used = 0;
  for (int i = width(in_request) - 1; i >= 0; i--) {
    send_if(out_request, i, some(in_request, i) & (used < param(ports)), data(in_request, i));
    used += some(in_request, i);
  }
}

handler(commit) {
  for (int i = 0; i < width(in_request); i++) enable(out_request, i, enabled(in_request, i));
}

handler(accept) {
  int used = 0;
  for (int i = width(in_request) - 1; i >= 0; i--) {
    accept(in_request, i, acked(out_request, i) & (used < param(ports)));
    used += some(in_request, i);
  }
}

handler(reply) {
  for (int i = 0; i < width(in_reply); i++) send_if(in_reply, i, some(out_reply, i), data(out_reply, i));
}

handler(commit_reply) {
  for (int i = 0; i < width(in_reply); i++) enable(in_reply, i, enabled(out_reply, i));
}

phase_end() {
  for (int i = 0; i < width(in_request); i++)
    if (some(in_request, i) && !some(out_request, i)) event(blocked, i);
}
