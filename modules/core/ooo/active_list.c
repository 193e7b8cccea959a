// active_list.c: program order, commitment and recovery; see active_list.lss.
#include "core/ooo/places.h"
#include "core/trap_text.h"

#define CONTEXT(age) age_context((age), param(contexts))
#define PLACE(age)   place_of_age(age_count((age), param(contexts)), param(entries))
#define SLOT(age)    slot_of_age((age), param(contexts), param(entries))

// Whether what cannot be committed as it is is executed alone.
#define PRECISE (width(serial) > 0)

// From a branch to what is executed when it is not taken.
#define BRANCH_BYTES (param(delay_slot) ? 8u : 4u)

init() {
  for (int c = 0; c < param(contexts); c++) {
    self->first[c] = self->heads.of[c] = self->tail[c] = (uint32_t)c;
    self->space.of[c] = (uint32_t)param(window);
    for (int i = 1; i < param(logical); i++)
      self->committed[c * param(logical) + i] = (uint16_t)(c * (param(logical) - 1) + i);
  }
}

handler(show_room, i) {
  send(room, i, self->space);
}

handler(show_squash, i) {
  send(squash, i, self->order);
}

handler(show_redirect, i) {
  send(redirect, i, self->to);
}

handler(show_head, i) {
  send(head, i, self->heads);
}

handler(show_retired, i) {
  send(retired, i, self->gone);
}

handler(show_outcomes, i) {
  send(outcomes, i, self->trained);
}

handler(show_serial, i) {
  send(serial, i, self->requested[i]);
}

handler(show_completed, i) {
  send(completed, i, self->finished_instructions[i % param(contexts)]);
}

handler(show_committed, i) {
  typeof_port(committed) map;
  memcpy(map.of, &self->committed[i * param(logical)], sizeof map.of);
  send(committed, i, map);
}

static inline uint32_t held_of(const self_t *self, uint32_t context) {
  return ages_between(self->first[context], self->tail[context], param(contexts));
}

// Whether all of a context is being dropped in this cycle.
static inline bool is_squashed(const self_t *self, uint32_t context) {
  return self->order.valid && (param(contexts) == 1 || CONTEXT(self->order.age) == context);
}

handler(show_status, i) {
  const uint32_t c = (uint32_t)(i % param(contexts));
  const bool waits = self->requested[c].valid || (self->orders >> c & 1) || is_squashed(self, c);
  const bool empty = held_of(self, c) == 0 && !(self->left >> c & 1) && !waits;
  send(status, i,
       ((core_status){.halted = empty, .slot = self->in_slot[c], .pc = self->started[c] ? self->next_pc[c] : 0}));
}

handler(look_up, i) {
  const renamed_op *from = &self->op[SLOT(data(read_age, i))];
  const execution found = {
      .pc = from->op.pc, .next = from->op.next, .immediate = from->op.immediate, .control = from->op.control};
  send_if(read_value, i, some(read_age, i), found);
}

static __attribute__((noinline)) void fail(self_t *self, uint32_t slot) {
  const micro_op *op = &self->op[slot].op;
  const trap_cause fault = self->fault[slot];
  const uint32_t context = CONTEXT(self->op[slot].age);
  char whose[32] = "", where[32] = "";
  self->pc[context] = op->pc;
  if (param(contexts) > 1) snprintf(whose, sizeof whose, "context %u: ", (unsigned)context);
  if (fault == trap_cause_unaligned || fault == trap_cause_access)
    snprintf(where, sizeof where, "address 0x%08x, ", (unsigned)self->target[slot]);
  sim_error("%s%s: %spc 0x%08x, instruction 0x%08x", whose, core_trap_text(fault), where, (unsigned)op->pc,
            (unsigned)op->word);
}

// A branch that is committed, for predictors.
static inline void train(self_t *self, uint32_t slot, bool taken) {
  const uint32_t n = self->trained.count++, context = CONTEXT(self->op[slot].age);
  const micro_op *op = &self->op[slot].op;
  self->trained.context[n] = (uint8_t)context;
  self->trained.pc[n] = op->pc;
  self->trained.target[n] = self->target[slot];
  self->trained.history[n] = op->history;
  self->trained.kind[n] = operation_flow(op->control);
  self->trained.taken[n] = taken;
  if (!param(delay_slot) && taken && context == 0)
    note(history, (core_jump){.behind = op->pc + BRANCH_BYTES, .to = self->target[slot]});
}

// Where the program did not go on with the next instruction: behind a delay slot, or a branch that annuls it.
static inline void remember(self_t *self, uint32_t pc) {
  if (pc != self->following) note(history, (core_jump){.behind = self->following, .to = pc});
  self->following = pc + 4;
}

static inline void emit_retire(self_t *self, uint32_t slot) {
  const renamed_op *op = &self->op[slot];
  const uint32_t context = CONTEXT(op->age);
  const bool stores = operation_kind(op->op.control) == operation_class_store;
  if (param(parts) > 1 && operation_more(op->op.control)) return;
  if (param(delay_slot) && context == 0) remember(self, op->op.pc);
  if (param(observed)) self->pc[context] = op->op.pc;
  event(retire, op->op.pc, op->op.word, self->value[slot], op->logical ? op->logical : 32, self->target[slot],
        stores ? self->size[slot] : 0, context);
  const uint32_t number = call(marker, op->op.word);
  if (number) event(marker, number);
  sim_check(PRECISE || param(delay_slot) || operation_flow(op->op.control) != branch_kind_none ||
                op->op.next == op->op.pc + 4,
            "pc 0x%08x is no branch, and was taken for one", (unsigned)op->op.pc);
}

// Whether the program does not go on with this instruction: the predictor took a word for a branch that was one in
// another program at the same addresses, or before the program wrote another one there.
static inline bool strays(const self_t *self, uint32_t c, uint32_t slot) {
  return PRECISE && self->started[c] && self->op[slot].op.pc != self->next_pc[c];
}

// Whether it was taken for a branch, and is none.
static inline bool was_taken_for_a_branch(const micro_op *op) {
  return operation_flow(op->control) == branch_kind_none && !operation_more(op->control) &&
         op->next != op->pc + BRANCH_BYTES;
}

// Where the program goes on behind an operation that is committed.
static inline void follow(self_t *self, uint32_t slot, bool taken) {
  const micro_op *op = &self->op[slot].op;
  const uint32_t c = CONTEXT(self->op[slot].age);
  self->started[c] = true;
  self->inside[c] = param(parts) > 1 && operation_more(op->control);
  if (self->inside[c]) return;
  self->next_pc[c] = self->in_slot[c] ? self->behind_slot[c] : op->pc + 4;
  self->in_slot[c] = false;
  if (operation_flow(op->control) == branch_kind_none) return;
  self->in_slot[c] = param(delay_slot) && !(operation_likely(op->control) && !taken);
  *(self->in_slot[c] ? &self->behind_slot[c] : &self->next_pc[c]) = self->target[slot];
}

// What has to be done about what a context has in flight.
static inline void have_done(self_t *self, uint32_t context, serial_order order) {
  self->ordered[context] = order;
  self->orders |= UINT32_C(1) << context;
}

static inline bool has_order(const self_t *self, uint32_t context) {
  return self->orders >> context & 1;
}

// Has what strayed dropped, and the program fetched from where it goes on.
static __attribute__((noinline)) void find_back(self_t *self, uint32_t c) {
  have_done(self, c, (serial_order){.valid = true, .drops = true, .next = true});
  count(strayed);
}

// Asks for the oldest instruction to be executed alone, or has it fetched anew.
static __attribute__((noinline)) void ask(self_t *self, uint32_t slot) {
  const renamed_op *op = &self->op[slot];
  const uint32_t c = CONTEXT(op->age);
  if (self->fault[slot] == trap_cause_overtaken) {
    have_done(self, c, (serial_order){.valid = true, .drops = true, .next = true});
    count(anew);
    return;
  }
  self->requested[c] = (serial_request){.valid = true,
                                        .slot = self->in_slot[c],
                                        .cause = self->fault[slot],
                                        .dest = op->dest,
                                        .source = {op->source[0], op->source[1]},
                                        .age = op->age,
                                        .pc = op->op.pc,
                                        .word = op->op.word,
                                        .immediate = op->op.immediate};
}

// Whether an interrupt that is to be taken may be here.
static inline bool between_instructions(const self_t *self, uint32_t c) {
  const bool stopped = self->halted[c] && (param(contexts) > 1 ? held_of(self, c) : self->held) == 0;
  return self->started[c] && !self->in_slot[c] && !self->inside[c] && !stopped;
}

// How many operations may be committed: an instruction that executes alone, or an interrupt, must be done before.
static inline uint32_t committable(const self_t *self, uint32_t c) {
  if (!PRECISE || !(self->requested[c].valid | has_order(self, c))) return (uint32_t)param(commit_width);
  if (self->requested[c].valid || !self->ordered[c].commits) return 0;
  return (self->ordered[c].drops | self->ordered[c].single) ? 1 : (uint32_t)param(commit_width);
}

// Commits of a context what was finished when the cycle began, behind n of others; how many.
static inline uint32_t commit_some(self_t *self, uint32_t context, uint32_t n, uint32_t *store_room, bool interrupted) {
  const uint32_t first = self->first[context], most = committable(self, context);
  const uint32_t held = ages_between(first, self->tail[context], param(contexts));
  uint32_t i = 0, unfinished = 0;
  for (; i < (uint32_t)param(commit_width) && (param(contexts) == 1 || n + i < (uint32_t)param(commit_width)); i++) {
    const uint32_t age = age_behind(first, i, param(contexts)), place = PLACE(age), slot = SLOT(age);
    if (i >= held || !(self->finished[context] >> place & 1)) break;
    if (PRECISE && __builtin_expect(i >= most || (interrupted && between_instructions(self, context)), false)) break;
    if (__builtin_expect(strays(self, context, slot), false)) {
      if (i > 0 || !has_order(self, context)) find_back(self, context);
      break;
    }
    if (__builtin_expect(self->fault[slot] != trap_cause_none, false)) {
      if (i == 0 ? has_order(self, context) : !PRECISE) break;
      if (PRECISE)
        ask(self, slot);
      else
        fail(self, slot);
      break;
    }
    const operation c = self->op[slot].op.control;
    const bool taken = self->taken[context] >> place & 1;
    if (operation_kind(c) == operation_class_store && (*store_room)-- == 0) {
      *store_room = 0;
      break;
    }
    self->finished[context] &= ~(UINT64_C(1) << place);
    self->gone.old[n + i] = self->op[slot].old;
    // Of what writes no register both are 0.
    self->committed[context * (uint32_t)param(logical) + self->op[slot].logical] = self->op[slot].dest;
    if (operation_flow(c) != branch_kind_none) {
      train(self, slot, taken);
      count(branches);
    } else if (PRECISE && __builtin_expect(was_taken_for_a_branch(&self->op[slot].op), false)) {
      train(self, slot, false);
      count(mistaken);
    }
    if (param(parts) > 1) unfinished += operation_more(c);
    if (PRECISE) follow(self, slot, taken);
    emit_retire(self, slot);
  }
  if (i > 0) self->pc[context] = self->op[SLOT(age_behind(first, i - 1, param(contexts)))].op.pc;
  self->first[context] = self->heads.of[context] = age_behind(first, i, param(contexts));
  if (width(completed) > 0) self->finished_instructions[context] = i - unfinished;
  if (PRECISE) self->left |= (uint32_t)(i > 0) << context;
  count(instructions, i - unfinished);
  if (param(parts) > 1) count(unfinished, unfinished);
  count(instructions_of[context], i - unfinished);
  return i;
}

// The contexts whose oldest instruction is finished, a bit for each.
static inline uint32_t find_ready_contexts(const self_t *self) {
  uint32_t ready = 0;
  for (int c = 0; c < param(contexts); c++) ready |= (uint32_t)(self->finished[c] >> PLACE(self->first[c]) & 1) << c;
  return ready;
}

// Commits of all contexts together what a cycle allows; `interrupted` has a bit for each that may be.
static inline void commit(self_t *self, uint32_t store_room, uint32_t interrupted) {
  uint32_t n = 0, left = store_room;
  self->trained.count = 0;
  if (PRECISE) self->left = 0;
  if (param(contexts) == 1) {
    n = commit_some(self, 0, 0, &left, interrupted != 0);
  } else {
    const uint32_t last = self->last;
    if (width(completed) > 0) memset(self->finished_instructions, 0, sizeof self->finished_instructions);
    for (uint32_t ready_contexts = find_ready_contexts(self); ready_contexts && n < (uint32_t)param(commit_width);) {
      const uint32_t c = call(choose, ready_contexts, last);
      if (n == 0) self->last = c;
      n += commit_some(self, c, n, &left, interrupted >> c & 1);
      ready_contexts &= ~(UINT32_C(1) << c);
    }
  }
  self->gone.count = (uint8_t)n;
  self->stores_sent = store_room - left;
}

// The oldest branch of a context that went elsewhere than predicted: what is younger is dropped, and fetch continues
// there.  It is not finished before that, so nothing behind it is committed.
static inline void redirect(self_t *self, const completion *done) {
  const micro_op *op = &self->op[SLOT(done->age)].op;
  const branch_kind kind = operation_flow(op->control);
  const bool slot = param(delay_slot) && !(operation_likely(op->control) && !completion_status_taken(done->status));
  self->finished[CONTEXT(done->age)] |= UINT64_C(1) << PLACE(done->age);
  self->order = (squash_order){.valid = true, .age = done->age};
  self->to = (fetch_redirect){.valid = true,
                              .push = kind == branch_kind_call,
                              .delayed = slot,
                              .context = (uint8_t)CONTEXT(done->age),
                              .top = (uint8_t)(op->top - (kind == branch_kind_subroutine_return)),
                              .history = kind == branch_kind_conditional
                                             ? (uint32_t)op->history << 1 | completion_status_taken(done->status)
                                             : op->history,
                              .pc = slot ? op->pc + 4 : done->target,
                              .target = slot ? done->target : 0,
                              .link = op->pc + BRANCH_BYTES};
  count(mispredicted);
  count(indirect, operation_kind(op->control) == operation_class_indirect);
}

static inline void finish_one(self_t *self, const completion *done) {
  const uint32_t slot = SLOT(done->age), context = CONTEXT(done->age);
  const uint64_t bit = UINT64_C(1) << PLACE(done->age);
  // Who wrote before the value came may have come before or behind the load.
  if (!PRECISE || self->fault[slot] != trap_cause_overtaken) self->fault[slot] = completion_status_fault(done->status);
  self->target[slot] = done->target;
  if (param(observed)) {
    self->value[slot] = done->value;
    self->size[slot] = completion_status_size(done->status);
  }
  self->finished[context] |= bit;
  if (operation_flow(self->op[slot].op.control) == branch_kind_none) return;
  self->taken[context] = (self->taken[context] & ~bit) | (completion_status_taken(done->status) ? bit : 0);
  if (!completion_status_redirects(done->status)) {
    self->gone.resolved |= UINT64_C(1) << self->op[slot].snapshot;
    return;
  }
  self->finished[context] &= ~bit;
  if (!(self->wrong >> context & 1) || place_younger(self->branch[context].age, done->age)) {
    self->wrong |= UINT32_C(1) << context;
    self->branch[context] = *done;
  }
}

static inline void enter(self_t *self, const renamed_op *op) {
  const uint32_t slot = SLOT(op->age);
  self->op[slot] = *op;
  self->fault[slot] = operation_trap(op->op.control);
  if (param(observed)) self->value[slot] = self->target[slot] = 0;
  if (operation_kind(op->op.control) == operation_class_none)
    self->finished[CONTEXT(op->age)] |= UINT64_C(1) << PLACE(op->age);
  if (param(contexts) > 1) self->tail[CONTEXT(op->age)] = age_behind(op->age, 1, param(contexts));
}

// All in flight of a context is dropped, and fetch goes on where that was ordered.
static __attribute__((noinline)) void drop_all(self_t *self, uint32_t c) {
  const micro_op *oldest = &self->op[SLOT(self->first[c])].op;
  if (!self->ordered[c].next) {
    self->next_pc[c] = self->ordered[c].pc;
    self->in_slot[c] = false;
  }
  self->orders &= ~(UINT32_C(1) << c);
  self->order = (squash_order){.valid = true, .all = true, .age = age_behind(self->first[c], ~0u, param(contexts))};
  self->to = (fetch_redirect){.valid = true,
                              .hold = self->ordered[c].hold,
                              .delayed = self->in_slot[c],
                              .context = (uint8_t)c,
                              .top = oldest->top,
                              .history = oldest->history,
                              .pc = self->next_pc[c],
                              .target = self->behind_slot[c]};
}

// One context's turn, of those of which a branch was predicted wrongly or all is to be `dropped`, to have that done.
static __attribute__((noinline)) void set_right(self_t *self, uint32_t dropped) {
  const uint32_t c = context_from(self->wrong | dropped, (self->to.context + 1) & 7);
  if (self->wrong >> c & 1) redirect(self, &self->branch[c]);
  self->wrong &= ~(UINT32_C(1) << c);
  if (PRECISE && dropped >> c & 1) drop_all(self, c);
}

// An instruction that executes alone, or an interrupt, is done; the context.  If it holds fetch, fetch may continue
// already.
static inline uint32_t take_order(self_t *self, const serial_order *order) {
  const uint32_t c = param(contexts) > 1 ? order->context : 0;
  self->requested[c].valid = false;
  if (has_order(self, c))
    self->ordered[c].hold = false;
  else
    have_done(self, c, *order);
  return c;
}

// Looks after what was ordered of a context, once its instruction is committed, and asks for an interrupt when nothing
// else is requested for.  True: all in flight is to be dropped.
static inline bool follow_order(self_t *self, uint32_t c, bool interrupted) {
  const bool committed = self->left >> c & 1;
  if (!has_order(self, c)) {
    if (interrupted && !committed && !self->requested[c].valid && between_instructions(self, c))
      self->requested[c] = (serial_request){.valid = true, .pc = self->next_pc[c], .age = self->first[c]};
    return false;
  }
  if (self->ordered[c].commits && !committed) return false;
  self->ordered[c].commits = false;
  if (!self->ordered[c].drops) self->orders &= ~(UINT32_C(1) << c);
  return self->ordered[c].drops;
}

// The contexts of which all is to be dropped for that, a bit for each.
static __attribute__((noinline)) uint32_t command(self_t *self, uint32_t c, const core_control *given) {
  if (given->set_halt) self->halted[c] = given->halt;
  if (!given->set_pc) return 0;
  if (held_of(self, c) > 0) sim_error("the pc is set while instructions are in flight");
  have_done(self, c, (serial_order){.valid = true, .drops = true, .pc = given->pc});
  return UINT32_C(1) << c;
}

static inline void note_overtaken(self_t *self, uint32_t c, uint64_t places) {
  places &= places_from(age_count(self->first[c], param(contexts)), held_of(self, c), param(entries));
  for (; places; places &= places - 1)
    self->fault[c * (uint32_t)param(entries) + (uint32_t)__builtin_ctzll(places)] = trap_cause_overtaken;
}

// Whether somebody wants something of the list.
static inline bool called(const self_t *self, uint32_t interrupted, bool orders) {
  return PRECISE && __builtin_expect((interrupted | orders | self->orders) != 0, false);
}

// Whether there is nothing to commit, and nothing was told in the last cycle that is not told again.
static inline bool quiet(const self_t *self) {
  return !self->order.valid && (self->gone.count | self->gone.resolved | self->wrong) == 0 &&
         find_ready_contexts(self) == 0;
}

// Drops what is younger than the squash that is shown; the places of its context that stay.
static __attribute__((noinline)) uint64_t drop_younger(self_t *self, uint32_t context) {
  const uint64_t kept = places_to(self->first[context], self->order.age, param(contexts), param(entries));
  const uint32_t behind = age_behind(self->order.age, 1, param(contexts));
  count(squashed, ages_between(behind, self->tail[context], param(contexts)));
  self->tail[context] = behind;
  self->finished[context] &= kept;
  return kept;
}

// Of a group that was renamed before the squash was known, what belongs to its context goes.
static __attribute__((noinline)) void drop_group(self_t *self, const typeof_port(in) * group, uint32_t squashed) {
  uint32_t dropped = 0;
  for (uint32_t i = 0; i < group->count; i++) dropped += CONTEXT(group->op[i].age) == squashed;
  count(squashed, dropped);
}

// What was renamed in the cycle before, unless it is dropped already.
static inline void enter_group(self_t *self, const typeof_port(in) * group, bool squashes, uint32_t squashed) {
  const uint32_t came = param(contexts) == 1 && squashes ? 0 : group->count;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    if (param(contexts) == 1 || !squashes || CONTEXT(group->op[i].age) != squashed) enter(self, &group->op[i]);
  }
  if (param(contexts) == 1) self->tail[0] += came;
}

static inline void count_entries(self_t *self) {
  self->held = 0;
  for (int c = 0; c < param(contexts); c++) {
    const uint32_t held = ages_between(self->first[c], self->tail[c], param(contexts));
    self->held += held;
    self->space.of[c] = (uint32_t)param(window) - held;
  }
}

// The registers that are given back in this cycle.
static __attribute__((unused)) uint32_t freed(const self_t *self) {
  uint32_t many = 0;
  for (int i = 0; i < self->gone.count; i++) many += self->gone.old[i] != 0;
  return many;
}

phase_end() {
  const bool squashes = self->order.valid;
  const uint32_t squashed = CONTEXT(self->order.age);
  uint32_t interrupted = 0;
  for (int c = 0; c < width(interrupt); c++) interrupted |= (uint32_t)data(interrupt, c) << c;
  interrupted &= ~self->orders;
  bool overtakes = false;
  for (int c = 0; c < (width(overtaken) > 0 ? param(contexts) : 0); c++) overtakes |= data(overtaken).of[c] != 0;
  if (data(in).count == 0 && quiet(self) && !called(self, interrupted, data(order).valid) && !overtakes) {
    bool completes = false;
    for (int i = 0; i < width(done); i++) completes |= completion_status_valid(data(done, i).status);
    for (int i = 0; i < width(control); i++) completes |= some(control, i);
    if (!completes) {
      self->moved = false;
      return;
    }
  }
  self->moved = true;
  event(freed, freed(self));
  const uint64_t kept = __builtin_expect(squashes, false) ? drop_younger(self, squashed) : ~UINT64_C(0);
  if (__builtin_expect(overtakes, false))
    for (uint32_t c = 0; c < (uint32_t)param(contexts); c++)
      note_overtaken(self, c, data(overtaken).of[c] & (c == squashed ? kept : ~UINT64_C(0)));
  int served = -1;
  if (PRECISE && __builtin_expect(data(order).valid, false)) {
    const uint32_t oldest = self->first[take_order(self, &data(order))];
    for (int i = 0; i < width(done); i++)
      if (completion_status_valid(data(done, i).status) && data(done, i).age == oldest) served = i;
    if (served >= 0) finish_one(self, &data(done, served));
  }
  commit(self, data(store_room) - self->stores_sent, interrupted & ~self->orders);
  self->order.valid = self->to.valid = false;
  self->gone.resolved = 0;
  for (int i = 0; i < width(done); i++) {
    const completion *done = &data(done, i);
    if (!completion_status_valid(done->status) || (PRECISE && i == served)) continue;
    if (__builtin_expect(squashes, false) && CONTEXT(done->age) == squashed && !(kept >> PLACE(done->age) & 1))
      continue;
    finish_one(self, done);
  }
  uint32_t dropped = 0;
  if (PRECISE)
    for (uint32_t m = interrupted | self->orders; m; m &= m - 1)
      dropped |= (uint32_t)follow_order(self, (uint32_t)__builtin_ctz(m), interrupted & m & -m) << __builtin_ctz(m);
  for (int i = 0; i < width(control); i++)
    if (__builtin_expect(some(control, i), false))
      dropped |= command(self, (uint32_t)(i % param(contexts)), &data(control, i));
  if (__builtin_expect((self->wrong | dropped) != 0, false)) set_right(self, dropped);
  if (__builtin_expect(squashes, false)) drop_group(self, &data(in), squashed);
  enter_group(self, &data(in), squashes, squashed);
  count_entries(self);
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
