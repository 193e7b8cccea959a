// group_fetch.c: fetches groups of instructions; see group_fetch.lss.

#define NOBODY param(contexts)

init() {
  for (int c = 0; c < param(contexts); c++) {
    self->pc[c] = (uint32_t)param(reset_pc);
    self->halted[c] = param(start_halted);
    if (param(start_halted)) count_cycles(stopped, true);
  }
}

// Whether a context is held as behind a wait, and not halted.
static inline bool sleeps(const self_t *self, int context) {
  return self->held[context] && !self->halted[context];
}

statistics() {
  uint64_t asleep = counted(slept), halted = counted(stopped);
  for (int c = 0; c < param(contexts); c++) {
    asleep += sleeps(self, c) ? cycle() : 0;
    halted += self->halted[c] ? cycle() : 0;
  }
  counted(asleep) = asleep;
  counted(halted_cycles) = halted;
}

// Whether only the delay slot of a branch is to be fetched; what is there to be guessed is known.
static inline bool at_slot(const self_t *self, uint32_t context) {
  return param(delay_slot) && self->delayed[context];
}

static inline branch_guess behind_slot(const self_t *self, uint32_t context) {
  return (branch_guess){.count = 1, .history = self->history[context], .next = self->target[context]};
}

phase_start() {
  for (int i = 0; i < width(status); i++) {
    const int c = i % param(contexts);
    const bool halted = self->halted[c] && self->allowed[c] == 0 && !self->waiting[c];
    send(status, i, ((core_status){.halted = halted, .pc = self->pc[c]}));
  }
}

// Those that can be fetched for in this cycle, a bit for each context.
static inline uint32_t find_ready_contexts(const self_t *self, const typeof_port(room) * room,
                                           const fetch_redirect *redirect) {
  uint32_t ready_contexts = 0;
  for (int c = 0; c < param(contexts); c++) {
    const bool goes = !self->held[c] & (room->of[c] >= (uint32_t)(param(width) * param(parts))) &&
                      (!self->halted[c] || self->allowed[c] > 0) & !self->waiting[c];
    ready_contexts |= (uint32_t)goes << c;
  }
  if (redirect->valid) ready_contexts &= ~(UINT32_C(1) << (param(contexts) > 1 ? redirect->context : 0));
  return ready_contexts;
}

// Lane by lane; a group that fails is the word that says why.
handler(choose, i) {
  uint32_t ready_contexts = 0, words = (uint32_t)param(width), last = self->last;
  if (i == 0) {
    ready_contexts = find_ready_contexts(self, &data(room), &data(redirect));
  } else {
    ready_contexts = get(others, i - 1);
    words = get(left, i - 1);
    last = get(chosen, i - 1);
    if (last == NOBODY)
      last = self->last;
    else
      words -= some(predictor_guess, i - 1) ? data(predictor_guess, i - 1).count : 1;
  }
  uint32_t next = NOBODY;
  if (ready_contexts && words > 0) {
    uint64_t counts = 0;
    for (int k = 0; k < width(waiting); k++) counts += data(waiting, k);
    const bool again = self->refused[i] && ready_contexts >> self->wanted[i] & 1;
    next = param(contexts) == 1 ? 0 : again ? self->wanted[i] : call(order, ready_contexts, counts, last);
    ready_contexts &= ~(UINT32_C(1) << next);
  }
  set(chosen, i, (uint8_t)next);
  set(others, i, ready_contexts);
  set(left, i, (uint8_t)words);
}

handler(ask, i) {
  const bool goes = get(chosen, i) != NOBODY;
  const uint32_t context = param(contexts) > 1 && goes ? get(chosen, i) : 0, pc = self->pc[context];
  const bool nothing = goes && ((pc & 3) != 0 || !call(executable, pc));
  const uint32_t address = param(aligned) ? pc & ~(uint32_t)(4 * param(width) - 1) : pc;
  const typeof_port(memory_request) request = {.op = mem_op_read,
                                               .size = 4 * param(width),
                                               .tag = context << CONTEXT_BIT,
                                               .address = call(locate, address, context)};
  const branch_query query = {
      .pc = pc, .history = self->history[context], .context = (uint8_t)context, .words = get(left, i)};
  set(fails, i, nothing);
  send_if(memory_request, i, goes & !nothing, request);
  send_if(predictor_query, i, goes & !nothing & !at_slot(self, context), query);
}

handler(confirm, i) {
  send(predictor_fetched, i, acked(memory_request, i));
}

// The words of a number that memory replied.
static inline void take_words(uint32_t *words, const void *number) {
  memcpy(words, number, 4 * param(width));
  if (!param(big_endian)) return;
  for (int i = 0, k = param(width) - 1; i < k; i++, k--) {
    const uint32_t upper = words[k];
    words[k] = words[i];
    words[i] = upper;
  }
}

// The words from the pc on.
static inline void take_group(uint32_t *group, uint32_t pc, const void *number) {
  if (!param(aligned)) {
    take_words(group, number);
    return;
  }
  uint32_t words[2 * param(width)];
  const uint32_t first = pc >> 2 & (uint32_t)(param(width) - 1);
  take_words(words, number);
  for (int k = 0; k < param(width); k++) words[param(width) + k] = 0;
  for (int k = 0; k < param(width); k++) group[k] = words[first + (uint32_t)k];
}

// The first words of a group; if it ends in a delay slot, the words before that end at the branch.
static inline void cut(typeof_port(out) * group, uint32_t words) {
  const uint32_t behind = group->pc + 4 * words;
  const bool ends_in_slot = !group->delayed && group->next != group->pc + 4 * group->count;
  group->target = group->next;
  group->delayed = param(delay_slot) && ends_in_slot && words + 1 == group->count;
  group->count = (uint8_t)words;
  group->next = behind;
}

// What is said of a pc at which there are no instructions.
static inline void fill_fault(typeof_port(out) * group) {
  group->count = 1;
  group->fault = true;
  group->top = 0;
  group->next = group->pc + 4;
  for (int k = 0; k < param(width); k++) group->word[k] = group->pc & 3 ? param(unaligned) : param(absent);
}

// A reply goes before a pc at which there are no instructions, which is tried again.
handler(deliver, i) {
  const bool replies = some(memory_reply, i) && !self->stale[tag_context(data(memory_reply, i).tag, param(contexts))];
  if (!replies && !get(fails, i)) {
    send_nothing(out, i);
    return;
  }
  const uint32_t context = replies                ? tag_context(data(memory_reply, i).tag, param(contexts))
                           : param(contexts) == 1 ? 0
                                                  : get(chosen, i);
  typeof_port(out) group;
  group.context = (uint8_t)context;
  group.pc = self->pc[context];
  group.history = self->history[context];
  group.delayed = false;
  group.target = 0;
  if (__builtin_expect(!replies, false)) {
    fill_fault(&group);
    send(out, i, group);
    return;
  }
  const branch_guess guess = self->waiting[context]   ? self->guess[context]
                             : at_slot(self, context) ? behind_slot(self, context)
                                                      : data(predictor_guess, i);
  take_group(group.word, group.pc, &data(memory_reply, i).data);
  group.fault = data(memory_reply, i).error;
  if (__builtin_expect(group.fault, false)) memcpy(group.word, &data(memory_reply, i).data, sizeof group.word[0]);
  group.count = group.fault ? 1 : guess.count;
  group.top = guess.top;
  group.next = group.fault ? group.pc + 4 : guess.next;
  if (param(delay_slot)) {
    group.delayed = !group.fault && guess.delayed;
    group.target = guess.target;
  }
  const uint32_t allowed = self->allowed[context];
  if (__builtin_expect(self->halted[context] && allowed > 0 && group.count > allowed, false)) cut(&group, allowed);
  send(out, i, group);
}

static __attribute__((noinline)) void set_sleep(self_t *self, int context, bool halted, bool held) {
  const bool slept = sleeps(self, context), was_halted = self->halted[context];
  self->halted[context] = halted;
  self->held[context] = held;
  if (was_halted && !halted) count_cycles(stopped, false);
  if (!was_halted && halted) count_cycles(stopped, true);
  if (slept && !sleeps(self, context)) count_cycles(slept, false);
  if (!slept && sleeps(self, context)) count_cycles(slept, true);
}

static __attribute__((noinline)) void command(self_t *self, int context, const core_control *given) {
  if (given->flush) sim_error("a wide core is started, halted and stepped; it does not flush");
  if (given->set_pc && self->started[context] && (!self->halted[context] || self->waiting[context]))
    sim_error("the pc is set while instructions are in flight");
  if (given->set_pc) self->pc[context] = given->pc;
  if (given->step) self->allowed[context] = 1;
  const bool halts = given->step || (given->set_halt ? given->halt : self->halted[context]);
  if (halts != self->halted[context]) set_sleep(self, context, halts, self->held[context]);
}

// Fetch of a context goes on behind what was delivered.
static inline void go_on(self_t *self, uint32_t context, const typeof_port(out) * group, uint32_t history) {
  self->pc[context] = group->next;
  if (!group->fault) self->history[context] = history;
  if (param(delay_slot)) {
    self->delayed[context] = group->delayed;
    self->target[context] = group->target;
  }
  if (__builtin_expect(self->halted[context], false))
    self->allowed[context] -= self->allowed[context] < group->count ? self->allowed[context] : group->count;
  count(groups);
  count(words, group->count);
}

// Remembers for whom memory took no reference.
static inline void note_refusal(self_t *self, int lane, uint8_t context, bool refused) {
  self->moved |= self->refused[lane] != refused || (refused && self->wanted[lane] != context);
  self->refused[lane] = refused;
  if (refused) self->wanted[lane] = context;
}

static inline void follow_redirect(self_t *self, uint32_t context, const fetch_redirect *to) {
  self->pc[context] = to->pc;
  self->history[context] = to->history;
  if (__builtin_expect(to->hold | self->held[context], false))
    set_sleep(self, (int)context, self->halted[context], to->hold);
  if (param(delay_slot)) {
    self->delayed[context] = to->delayed;
    self->target[context] = to->target;
  }
  if (self->waiting[context]) self->stale[context] = true;
}

phase_end() {
  const bool redirected = data(redirect).valid;
  const uint32_t elsewhere = param(contexts) > 1 ? data(redirect).context : 0;
  self->moved = redirected;
  for (int c = 0; c < width(control); c++) {
    if (!some(control, c)) continue;
    command(self, c % param(contexts), &data(control, c));
    self->moved = true;
  }
  bool fetches = false;
  for (int i = 0; i < param(lanes); i++) {
    const uint32_t context = param(contexts) > 1 ? data(out, i).context : 0;
    fetches |= transferred(memory_request, i);
    self->moved |= transferred(memory_request, i) | some(memory_reply, i) | transferred(out, i);
    if (transferred(memory_request, i)) {
      const uint32_t of = param(contexts) > 1 ? get(chosen, i) : 0;
      self->waiting[of] = self->started[of] = true;
      self->guess[of] = at_slot(self, of) ? behind_slot(self, of) : data(predictor_guess, i);
      self->last = of;
    }
    if (param(contexts) > 1) {
      const bool refused = get(chosen, i) != NOBODY && !get(fails, i) && !transferred(memory_request, i);
      note_refusal(self, i, get(chosen, i), refused);
    }
    const uint32_t replied = some(memory_reply, i) ? tag_context(data(memory_reply, i).tag, param(contexts)) : 0;
    const bool stale = some(memory_reply, i) && self->stale[replied];
    if (stale) event(unwanted);
    if (transferred(out, i) && (stale || !some(memory_reply, i))) event(failed);
    if (some(memory_reply, i)) {
      const uint32_t of = tag_context(data(memory_reply, i).tag, param(contexts));
      self->waiting[of] = self->stale[of] = false;
    }
    if (transferred(out, i) && (!redirected || context != elsewhere))
      go_on(self, context, &data(out, i), self->guess[context].history);
    else if (transferred(out, i))
      event(dropped, data(out, i).count);
  }
  count(fetching, fetches);
  if (fetches)
    count(fetchable,
          param(contexts) > 1 ? (uint32_t)__builtin_popcount(get(others, 0)) + (get(chosen, 0) != NOBODY) : 1);
  if (__builtin_expect(redirected, false)) follow_redirect(self, elsewhere, &data(redirect));
}

next_event() {
  return self->moved ? cycle() : never();
}
