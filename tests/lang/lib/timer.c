// timer.c: counts down; see timer.lss.
static void reset(self_t *self, int64_t left) {
  self->left = left;
}
init() {
  reset(self, param(first));
}
handler(reset, first) {
  reset(self, param(first));
}
handler(reset, every) {
  if (self->left > param(every)) reset(self, param(every));
}
phase_end() {
  self->left -= param(reset);
  if (self->left <= 0) reset(self, param(every));
}
