/* group_fetch.c: fetches groups of instructions; see group_fetch.lss. */

init() {
  self->pc = (uint32_t)param(reset_pc);
  self->running = !param(start_halted);
}

handler(ask) {
  const bool goes = self->running & !self->waiting & !data(redirect).valid & (data(room) >= (uint32_t)param(width));
  const uint32_t pc = self->pc;
  const bool nothing = goes && ((pc & 3) != 0 || !call(executable, pc));
  const uint32_t address = param(aligned) ? pc & ~(uint32_t)(4 * param(width) - 1) : pc;
  const typeof_port(memory_request) request = {.op = mem_op_read, .size = 4 * param(width), .address = address};
  const branch_query query = {.pc = pc, .history = self->history};
  set(fails, nothing);
  send_if(memory_request, goes & !nothing, request);
  send_if(predictor_query, goes & !nothing, query);
}

handler(commit_query) {
  enable(predictor_query, acked(memory_request));
}

handler(deliver) {
  typeof_port(out) group;
  group.pc = self->pc;
  group.history = self->history;
  if (__builtin_expect(get(fails), false)) {
    group.count = 1;
    group.fault = true;
    group.top = 0;
    group.next = self->pc + 4;
    for (int i = 0; i < param(width); i++) group.word[i] = 0;
    send(out, group);
    return;
  }
  if (!some(memory_reply) || self->stale) {
    send_nothing(out);
    return;
  }
  const branch_guess guess = self->waiting ? self->guess : data(predictor_guess);
  if (param(aligned)) {
    uint32_t words[2 * param(width)];
    const uint32_t first = self->pc >> 2 & (uint32_t)(param(width) - 1);
    memcpy(words, &data(memory_reply).data, 4 * param(width));
    for (int i = 0; i < param(width); i++) words[param(width) + i] = 0;
    for (int i = 0; i < param(width); i++) group.word[i] = words[first + (uint32_t)i];
  } else {
    memcpy(group.word, &data(memory_reply).data, 4 * param(width));
  }
  group.fault = data(memory_reply).error;
  group.count = group.fault ? 1 : guess.count;
  group.top = guess.top;
  group.next = group.fault ? self->pc + 4 : guess.next;
  send(out, group);
}

static __attribute__((noinline)) void command(self_t *self, const core_control *given) {
  if (given->step || given->flush) sim_error("a wide core is started and halted; it neither steps nor flushes");
  if (given->set_pc && self->started) sim_error("the pc is set while instructions are in flight");
  if (given->set_pc) self->pc = given->pc;
  if (given->set_halt) self->running = !given->halt;
}

phase_end() {
  if (__builtin_expect(some(control), false)) command(self, &data(control));
  const bool redirected = data(redirect).valid;
  self->moved = redirected | some(control) | transferred(memory_request) | some(memory_reply) | transferred(out);
  if (transferred(memory_request)) {
    self->waiting = self->started = true;
    self->guess = data(predictor_guess);
  }
  if (some(memory_reply)) self->waiting = self->stale = false;
  if (__builtin_expect(redirected, false)) {
    self->pc = data(redirect).pc;
    self->history = data(redirect).history;
    self->stale = self->waiting;
  } else if (transferred(out)) {
    self->pc = data(out).next;
    self->history = data(out).fault ? self->history : self->guess.history;
    count(groups);
    count(words, data(out).count);
  }
}

next_event() {
  return self->moved ? cycle() : never();
}
