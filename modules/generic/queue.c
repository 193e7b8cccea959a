// queue.c: a first-in first-out buffer; see queue.lss.

phase_start() {
  send_if(out, self->count > 0, self->slot[self->head]);
  accept(in, self->count < param(depth));
  for (int i = 0; i < width(filling); i++) send(filling, i, self->count);
}

phase_end() {
  const uint32_t count = self->shown = self->count;
  if (transferred(in)) {
    uint32_t tail = self->head + count;
    self->slot[tail >= param(depth) ? tail - param(depth) : tail] = data(in);
    self->count++;
  } else if (some(in) && count == param(depth)) {
    count(full_cycles);
  }
  if (transferred(out)) {
    self->count--;
    self->head = self->count == 0 || self->head + 1 == param(depth) ? 0 : self->head + 1;
  }
  if (self->count > self->most) report(peak, self->most = self->count);
}

next_event() {
  return self->count || self->shown ? cycle() : never();
}
