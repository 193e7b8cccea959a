/* ranged.c: changes little; see ranged.lss. */
phase_end() {
  if (!transferred(in)) return;
  self->turn[0][0] = (self->turn[0][0] + 1) % param(depth);
  note(history, self->turn[0][0]);
}
