/* group_fetch.c: fetches groups of instructions; see group_fetch.lss. */

init() {
  self->pc = (uint32_t)param(reset_pc);
  self->halted = param(start_halted);
}

/* Whether only the delay slot of a branch is to be fetched; what is there to be guessed is known. */
static inline bool at_slot(const self_t *self) {
  return param(delay_slot) && self->delayed;
}

static inline branch_guess behind_slot(const self_t *self) {
  return (branch_guess){.count = 1, .history = self->history, .next = self->target};
}

phase_start() {
  const core_status now = {.halted = self->halted && !self->waiting && self->allowed == 0, .pc = self->pc};
  for (int i = 0; i < width(status); i++) send(status, i, now);
}

handler(ask) {
  const bool goes =
      !self->waiting & !self->held & !data(redirect).valid & (data(room) >= (uint32_t)(param(width) * param(parts))) &&
      (!self->halted || self->allowed > 0);
  const uint32_t pc = self->pc;
  const bool nothing = goes && ((pc & 3) != 0 || !call(executable, pc));
  const uint32_t address = param(aligned) ? pc & ~(uint32_t)(4 * param(width) - 1) : pc;
  const typeof_port(memory_request) request = {.op = mem_op_read, .size = 4 * param(width), .address = address};
  const branch_query query = {.pc = pc, .history = self->history};
  set(fails, nothing);
  send_if(memory_request, goes & !nothing, request);
  send_if(predictor_query, goes & !nothing & !at_slot(self), query);
}

handler(commit_query) {
  enable(predictor_query, acked(memory_request));
}

/* The words of a number that memory replied. */
static inline void take_words(uint32_t *words, const void *number) {
  memcpy(words, number, 4 * param(width));
  if (!param(big_endian)) return;
  for (int i = 0, k = param(width) - 1; i < k; i++, k--) {
    const uint32_t upper = words[k];
    words[k] = words[i];
    words[i] = upper;
  }
}

/* The first words of a group; if it ends in a delay slot, the words before that end at the branch. */
static inline void cut(typeof_port(out) * group, uint32_t words) {
  const uint32_t behind = group->pc + 4 * words;
  const bool ends_in_slot = !group->delayed && group->next != group->pc + 4 * group->count;
  group->target = group->next;
  group->delayed = param(delay_slot) && ends_in_slot && words + 1 == group->count;
  group->count = (uint8_t)words;
  group->next = behind;
}

handler(deliver) {
  typeof_port(out) group;
  group.pc = self->pc;
  group.history = self->history;
  group.delayed = false;
  group.target = 0;
  if (__builtin_expect(get(fails), false)) {
    group.count = 1;
    group.fault = true;
    group.top = 0;
    group.next = self->pc + 4;
    for (int i = 0; i < param(width); i++) group.word[i] = self->pc & 3 ? param(unaligned) : param(absent);
    send(out, group);
    return;
  }
  if (!some(memory_reply) || self->stale) {
    send_nothing(out);
    return;
  }
  const branch_guess guess = self->waiting ? self->guess : at_slot(self) ? behind_slot(self) : data(predictor_guess);
  if (param(aligned)) {
    uint32_t words[2 * param(width)];
    const uint32_t first = self->pc >> 2 & (uint32_t)(param(width) - 1);
    take_words(words, &data(memory_reply).data);
    for (int i = 0; i < param(width); i++) words[param(width) + i] = 0;
    for (int i = 0; i < param(width); i++) group.word[i] = words[first + (uint32_t)i];
  } else {
    take_words(group.word, &data(memory_reply).data);
  }
  group.fault = data(memory_reply).error;
  if (__builtin_expect(group.fault, false)) memcpy(group.word, &data(memory_reply).data, sizeof group.word[0]);
  group.count = group.fault ? 1 : guess.count;
  group.top = guess.top;
  group.next = group.fault ? self->pc + 4 : guess.next;
  if (param(delay_slot)) {
    group.delayed = !group.fault && guess.delayed;
    group.target = guess.target;
  }
  if (__builtin_expect(self->halted && self->allowed > 0 && group.count > self->allowed, false))
    cut(&group, self->allowed);
  send(out, group);
}

static __attribute__((noinline)) void command(self_t *self, const core_control *given) {
  if (given->flush) sim_error("a wide core is started, halted and stepped; it does not flush");
  if (given->set_pc && self->started && (!self->halted || self->waiting))
    sim_error("the pc is set while instructions are in flight");
  if (given->set_pc) self->pc = given->pc;
  if (given->set_halt) self->halted = given->halt;
  if (given->step) self->halted = self->allowed = true;
}

phase_end() {
  bool commanded = false;
  for (int i = 0; i < width(control); i++) {
    if (!some(control, i)) continue;
    commanded = true;
    command(self, &data(control, i));
  }
  const bool redirected = data(redirect).valid;
  self->moved = redirected | commanded | transferred(memory_request) | some(memory_reply) | transferred(out);
  if (transferred(memory_request)) {
    self->waiting = self->started = true;
    self->guess = at_slot(self) ? behind_slot(self) : data(predictor_guess);
  }
  if (some(memory_reply)) self->waiting = self->stale = false;
  if (__builtin_expect(redirected, false)) {
    self->pc = data(redirect).pc;
    self->history = data(redirect).history;
    self->held = data(redirect).hold;
    if (param(delay_slot)) {
      self->delayed = data(redirect).delayed;
      self->target = data(redirect).target;
    }
    self->stale = self->waiting;
  } else if (transferred(out)) {
    self->pc = data(out).next;
    self->history = data(out).fault ? self->history : self->guess.history;
    if (param(delay_slot)) {
      self->delayed = data(out).delayed;
      self->target = data(out).target;
    }
    if (__builtin_expect(self->halted, false))
      self->allowed -= self->allowed < data(out).count ? self->allowed : data(out).count;
    count(groups);
    count(words, data(out).count);
  }
}

next_event() {
  return self->moved ? cycle() : never();
}
