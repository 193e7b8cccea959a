// lane_barrier.c: all lanes or none; see lane_barrier.lss.
//
// Acceptance cannot wait for the senders' enables, so when one sender cancels what another commits, an item would be
// lost: that stops the run.

handler(offer) {
  bool every = true;
  for (int i = 0; i < width(in); i++) every &= some(in, i);
  for (int i = 0; i < width(in); i++) send_if(out, i, every, data(in, i));
}

handler(accept) {
  bool every = true;
  for (int i = 0; i < width(in); i++) every &= some(in, i) & acked(out, i);
  for (int i = 0; i < width(in); i++) accept(in, i, every);
}

handler(commit) {
  bool every = true;
  for (int i = 0; i < width(in); i++) every &= enabled(in, i) & acked(out, i);
  for (int i = 0; i < width(in); i++) enable(out, i, every);
}

phase_end() {
  int offered = 0, moved = 0;
  for (int i = 0; i < width(in); i++) {
    offered += some(in, i);
    moved += transferred(in, i);
  }
  if (moved != 0 && moved != width(in)) sim_error("one stream was cancelled while another was committed");
  if (moved != 0)
    event(passed);
  else if (offered != 0 && offered != width(in))
    event(held);
}

next_event() {
  return never();
}
