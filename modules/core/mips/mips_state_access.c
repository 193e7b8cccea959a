/* mips_state_access.c: writes a processor's state; see mips_state_access.lss. */

static inline bool is_last(const self_t *self) {
  return self->step == (uint32_t)param(cycles) - 1;
}

handler(write) {
  if (__builtin_expect(!some(load), true)) {
    send_nothing(registers_request);
    send_nothing(hilo);
    send_nothing(system);
    send_nothing(operate_request);
    accept(load, false);
    return;
  }
  const uint32_t step = self->step;
  const mem_request_32 request = {
      .op = mem_op_write, .size = 4, .address = 4 * (step % 32), .data = data(load).r[step % 32]};
  const tlb_request entry = {
      .op = tlb_op_write, .index = step, .entry = data(load).tlb[step % (uint32_t)param(tlb_entries)]};
  const muldiv_load hilo = {.hi = data(load).hi, .lo = data(load).lo};
  send_if(registers_request, step < 32, request);
  send_if(operate_request, step < (uint32_t)param(tlb_entries), entry);
  send_if(hilo, is_last(self), hilo);
  send_if(system, is_last(self), data(load));
  accept(load, is_last(self));
}

handler(command) {
  if (__builtin_expect(some(load), false)) {
    const core_control go = {.set_pc = true, .pc = data(load).waiting ? data(load).pc - 4 : data(load).pc};
    send_if(fetch_control, is_last(self), go);
  } else {
    send_if(fetch_control, some(control), data(control));
  }
}

handler(accept) {
  accept(control, !some(load) && acked(fetch_control));
}

handler(commit) {
  const bool enabled = enabled(load);
  enable(registers_request, enabled);
  enable(hilo, enabled);
  enable(system, enabled);
  enable(operate_request, enabled);
}

handler(commit_command) {
  enable(fetch_control, some(load) ? enabled(load) : enabled(control));
}

phase_end() {
  if (!some(load) || !enabled(load)) return unchanged();
  self->step++;
  if (!transferred(load)) return;
  self->step = 0;
  count(loads);
}

next_event() {
  return self->step > 0 ? cycle() : never();
}
