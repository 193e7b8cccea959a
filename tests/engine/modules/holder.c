// holder.c: says what it waits for; see holder.lss.
phase_start() {
  for (int i = 0; i < width(out); i++) send_nothing(out, i);
  for (int i = 0; i < width(memory_request); i++) send_nothing(memory_request, i);
  for (int i = 0; i < width(served_reply); i++) send_nothing(served_reply, i);
}

phase_end() {
  self->at_work++;
}

awaits() {
  for (int i = 0; i < width(in); i++) waits_for(in, i, "item %d", i);
  waits_for(memory_reply, 0, "the value of a read");
  if (param(outside)) sim_error("waits for a key");
}
