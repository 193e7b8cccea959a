// ranged.c: changes little; see ranged.lss.
phase_end() {
  if (!transferred(in)) return;
  self->turn[0][0] = (self->turn[0][0] + 1) % param(depth);
  note(history, self->turn[0][0]);
}

check_state() {
  bool any = false;
  for (int i = 0; i < param(depth); i++) any |= self->full[i];
  if (any && !self->full[self->first]) sim_error("entry %d is the first that is full, and is empty", (int)self->first);
}
