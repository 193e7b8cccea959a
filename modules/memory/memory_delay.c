// memory_delay.c: delays memory requests; see memory_delay.lss.

static __attribute__((noinline)) void draw_refusal(self_t *self) {
  self->refuses = param(refuse) > 0;
  self->refusing = self->refuses && (double)(random_bits(&self->rng) >> 11) * 0x1.0p-53 < param(refuse);
}

init() {
  random_seed(&self->rng);
  draw_refusal(self);
}

handler(reset, refuse) {
  draw_refusal(self);
}

phase_start() {
  accept(in_request, self->count < param(depth) && !self->refusing);
  if (__builtin_expect(self->count > 0 && within(due[self->head], 0), false))
    send(out_request, self->entry[self->head]);
  else
    send_nothing(out_request);
}

handler(reply) {
  if (some(out_reply))
    send(in_reply, item(out_reply));
  else
    send_nothing(in_reply);
  enable(in_reply, enabled(out_reply));
}

phase_end() {
  uint32_t tail = self->head + self->count;
  if (transferred(in_request)) {
    uint32_t slot = tail >= param(depth) ? tail - param(depth) : tail;
    self->entry[slot] = item(in_request);
    uint64_t cycles = (uint64_t)param(latency);
    if (param(jitter) > 0) cycles += random_bits(&self->rng) % (uint64_t)(param(jitter) + 1);
    set_until(due[slot], cycles);
    self->count++;
  }
  if (transferred(out_request)) {
    if (self->count == param(depth)) set_until(freed, 2);
    self->head = self->head + 1 == param(depth) ? 0 : self->head + 1;
    self->count--;
  }
  if (__builtin_expect(self->refuses, false)) draw_refusal(self);
}

next_event() {
  if (param(refuse) > 0 || until(freed)) return cycle();
  if (self->count == 0) return never();
  return unchanged(after(until(due[self->head])));
}
