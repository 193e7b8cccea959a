// ticker.c: counts; see ticker.lss.
init() {
  random_seed(&self->rng);
}

phase_start() {
  send(out, (uint32_t)cycle());
}

phase_end() {
  count(cycles);
  self->pc += 4;
  if (transferred(out)) {
    count(items);
    event(taken, data(out));
  }
  if ((int64_t)cycle() == param(fail_at)) sim_error("no memory answers at 0x%x", 0xdeadu);
  if ((int64_t)cycle() == param(stop_at)) sim_exit(0, "reached cycle %llu", (unsigned long long)cycle());
}
