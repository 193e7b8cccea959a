/* active_list.c: program order, commitment and recovery; see active_list.lss. */
#include "core/ooo/places.h"
#include "core/trap_text.h"

#define CONTEXT(age) age_context((age), param(contexts))
#define PLACE(age)   place_of_age(age_count((age), param(contexts)), param(entries))
#define SLOT(age)    slot_of_age((age), param(contexts), param(entries))

/* Whether what cannot be committed as it is is executed alone. */
#define PRECISE (width(serial) > 0)

/* From a branch to what is executed when it is not taken. */
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
  send(serial, i, self->requested);
}

handler(show_completed, i) {
  send(completed, i, self->finished_instructions);
}

handler(show_committed, i) {
  typeof_port(committed) map;
  memcpy(map.of, self->committed, sizeof map.of);
  send(committed, i, map);
}

handler(show_status, i) {
  const bool waits = self->requested.valid | self->ordered.valid | self->order.valid;
  const bool empty = self->held == 0 && self->gone.count == 0 && !waits;
  send(status, i, ((core_status){.halted = empty, .slot = self->in_slot, .pc = self->started ? self->next_pc : 0}));
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
  note(pc, op->pc);
  if (fault == trap_cause_unaligned || fault == trap_cause_access)
    sim_error("%s: address 0x%08x, pc 0x%08x, instruction 0x%08x", core_trap_text(fault), (unsigned)self->target[slot],
              (unsigned)op->pc, (unsigned)op->word);
  sim_error("%s: pc 0x%08x, instruction 0x%08x", core_trap_text(fault), (unsigned)op->pc, (unsigned)op->word);
}

/* A branch that is committed, for predictors. */
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

/* Where the program did not go on with the next instruction: behind a delay slot, or a branch that annuls it. */
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
  if (param(observed) && context == 0) note(pc, op->op.pc);
  event(retire, op->op.pc, op->op.word, self->value[slot], op->logical ? op->logical : 32, self->target[slot],
        stores ? self->size[slot] : 0, context);
  const uint32_t number = call(marker, op->op.word);
  if (number) event(marker, number);
  sim_check(param(delay_slot) || operation_flow(op->op.control) != branch_kind_none || op->op.next == op->op.pc + 4,
            "pc 0x%08x is no branch, and was taken for one", (unsigned)op->op.pc);
}

/* Where the program goes on behind an operation that is committed. */
static inline void follow(self_t *self, uint32_t slot, bool taken) {
  const micro_op *op = &self->op[slot].op;
  self->started = true;
  self->inside = param(parts) > 1 && operation_more(op->control);
  if (self->inside) return;
  self->next_pc = self->in_slot ? self->behind_slot : op->pc + 4;
  self->in_slot = false;
  if (operation_flow(op->control) == branch_kind_none) return;
  self->in_slot = param(delay_slot) && !(operation_likely(op->control) && !taken);
  *(self->in_slot ? &self->behind_slot : &self->next_pc) = self->target[slot];
}

/* Asks for the oldest instruction to be executed alone, or has it fetched anew. */
static __attribute__((noinline)) void ask(self_t *self, uint32_t slot) {
  const renamed_op *op = &self->op[slot];
  if (self->fault[slot] == trap_cause_overtaken) {
    self->ordered = (serial_order){.valid = true, .drops = true, .next = true};
    count(anew);
    return;
  }
  self->requested = (serial_request){.valid = true,
                                     .slot = self->in_slot,
                                     .cause = self->fault[slot],
                                     .dest = op->dest,
                                     .source = {op->source[0], op->source[1]},
                                     .age = self->first[0],
                                     .pc = op->op.pc,
                                     .word = op->op.word,
                                     .immediate = op->op.immediate};
}

/* Whether an interrupt that is to be taken may be here. */
static inline bool between_instructions(const self_t *self) {
  return self->started && !self->in_slot && !self->inside && !(self->halted && self->held == 0);
}

/* How many operations may be committed: what is executed alone, or an interrupt, must have become something before. */
static inline uint32_t committable(const self_t *self) {
  if (!PRECISE || !(self->requested.valid | self->ordered.valid)) return (uint32_t)param(commit_width);
  return !self->requested.valid && self->ordered.commits;
}

/* Commits of a context what was finished when the cycle began, behind n of others; how many. */
static inline uint32_t commit_some(self_t *self, uint32_t context, uint32_t n, uint32_t *store_room, bool interrupted) {
  const uint32_t first = self->first[context], most = committable(self);
  const uint32_t held = ages_between(first, self->tail[context], param(contexts));
  uint32_t i = 0, unfinished = 0;
  for (; i < (uint32_t)param(commit_width) && (param(contexts) == 1 || n + i < (uint32_t)param(commit_width)); i++) {
    const uint32_t age = age_behind(first, i, param(contexts)), place = PLACE(age), slot = SLOT(age);
    if (i >= held || !(self->finished[context] >> place & 1)) break;
    if (PRECISE && __builtin_expect(i >= most || (interrupted && between_instructions(self)), false)) break;
    if (__builtin_expect(self->fault[slot] != trap_cause_none, false)) {
      if (i > 0 || self->ordered.valid) break;
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
    /* Of what writes no register both are 0. */
    self->committed[context * (uint32_t)param(logical) + self->op[slot].logical] = self->op[slot].dest;
    if (operation_flow(c) != branch_kind_none) train(self, slot, taken);
    if (param(parts) > 1) unfinished += operation_more(c);
    if (PRECISE) follow(self, slot, taken);
    emit_retire(self, slot);
  }
  if (i > 0 && context == 0) note(pc, self->op[SLOT(age_behind(first, i - 1, param(contexts)))].op.pc);
  self->first[context] = self->heads.of[context] = age_behind(first, i, param(contexts));
  if (width(completed) > 0) self->finished_instructions = i - unfinished;
  count(instructions, i - unfinished);
  if (param(contexts) > 1) count(instructions_of[context], i - unfinished);
  return i;
}

/* The contexts whose oldest instruction is finished, a bit for each. */
static inline uint32_t ready_contexts(const self_t *self) {
  uint32_t ready = 0;
  for (int c = 0; c < param(contexts); c++) ready |= (uint32_t)(self->finished[c] >> PLACE(self->first[c]) & 1) << c;
  return ready;
}

/* Commits of all contexts together what a cycle allows; how many. */
static inline uint32_t commit(self_t *self, uint32_t store_room, bool interrupted) {
  uint32_t n = 0, left = store_room;
  self->trained.count = 0;
  if (param(contexts) == 1) {
    n = commit_some(self, 0, 0, &left, interrupted);
  } else {
    const uint32_t last = self->last;
    for (uint32_t able = ready_contexts(self); able && n < (uint32_t)param(commit_width);) {
      const uint32_t c = call(choose, able, last);
      if (n == 0) self->last = c;
      n += commit_some(self, c, n, &left, interrupted);
      able &= ~(UINT32_C(1) << c);
    }
  }
  self->gone.count = (uint8_t)n;
  self->stores_sent = store_room - left;
  count(branches, self->trained.count);
  return n;
}

/* The oldest branch of a context that went elsewhere than predicted: what is younger is dropped, and fetch continues
 * there.  It is not finished before that, so nothing behind it is committed. */
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
  self->fault[slot] = completion_status_fault(done->status);
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

/* One context's turn to have its wrong prediction set right. */
static __attribute__((noinline)) void set_right(self_t *self) {
  const uint32_t context = context_from(self->wrong, (self->to.context + 1) & 7);
  self->wrong &= ~(UINT32_C(1) << context);
  redirect(self, &self->branch[context]);
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

/* All in flight is dropped, and fetch goes on where that was ordered. */
static __attribute__((noinline)) void drop_all(self_t *self) {
  const micro_op *oldest = &self->op[PLACE(self->first[0])].op;
  if (!self->ordered.next) {
    self->next_pc = self->ordered.pc;
    self->in_slot = false;
  }
  self->order = (squash_order){.valid = true, .all = true, .age = self->first[0] - 1};
  self->to = (fetch_redirect){.valid = true,
                              .hold = self->ordered.hold,
                              .delayed = self->in_slot,
                              .top = oldest->top,
                              .history = oldest->history,
                              .pc = self->next_pc,
                              .target = self->behind_slot};
}

/* What was executed alone, or an interrupt, has become something: of one that holds fetch, fetch may go on already. */
static inline void take_order(self_t *self, const serial_order *order) {
  self->requested.valid = false;
  if (self->ordered.valid)
    self->ordered.hold = false;
  else
    self->ordered = *order;
}

/* Does what was ordered once its instruction is committed, and asks for an interrupt when nothing else is requested
 * for. */
static inline void follow_order(self_t *self, uint32_t committed, bool interrupted) {
  if (self->ordered.valid && self->ordered.commits && committed == 0) return;
  if (self->ordered.valid && self->ordered.drops) drop_all(self);
  if (!self->ordered.valid && interrupted && committed == 0 && !self->requested.valid && between_instructions(self))
    self->requested = (serial_request){.valid = true, .pc = self->next_pc, .age = self->first[0]};
  self->ordered.valid = false;
}

static __attribute__((noinline)) void command(self_t *self, const core_control *given) {
  if (given->set_halt) self->halted = given->halt;
  if (!given->set_pc) return;
  if (self->held > 0) sim_error("the pc is set while instructions are in flight");
  self->ordered = (serial_order){.valid = true, .drops = true, .pc = given->pc};
  drop_all(self);
  self->ordered.valid = false;
}

static inline void note_overtaken(self_t *self, uint64_t places) {
  for (; places; places &= places - 1) self->fault[__builtin_ctzll(places)] = trap_cause_overtaken;
}

/* Whether somebody wants something of the list. */
static inline bool called(const self_t *self, bool interrupted, bool orders) {
  return PRECISE && __builtin_expect(interrupted | orders | self->ordered.valid, false);
}

/* Whether there is nothing to commit, and nothing was told in the last cycle that is not told again. */
static inline bool quiet(const self_t *self) {
  return !self->order.valid && (self->gone.count | self->gone.resolved | self->wrong) == 0 && ready_contexts(self) == 0;
}

/* Drops what is younger than the squash that is shown; the places of its context that stay. */
static __attribute__((noinline)) uint64_t drop_younger(self_t *self, uint32_t context) {
  const uint64_t kept = places_to(self->first[context], self->order.age, param(contexts), param(entries));
  const uint32_t behind = age_behind(self->order.age, 1, param(contexts));
  count(squashed, ages_between(behind, self->tail[context], param(contexts)));
  self->tail[context] = behind;
  self->finished[context] &= kept;
  return kept;
}

/* What was renamed in the cycle before, unless it is dropped already. */
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

phase_end() {
  const bool squashes = self->order.valid;
  const uint32_t squashed = CONTEXT(self->order.age);
  const bool interrupted = PRECISE && data(interrupt) && !self->ordered.valid;
  if (data(in).count == 0 && quiet(self) && !called(self, interrupted, data(order).valid) && data(overtaken) == 0) {
    bool completes = false;
    for (int i = 0; i < width(done); i++) completes |= completion_status_valid(data(done, i).status);
    for (int i = 0; i < width(control); i++) completes |= some(control, i);
    if (!completes) {
      if (!self->moved) unchanged();
      self->moved = false;
      return;
    }
  }
  self->moved = true;
  const uint64_t kept = __builtin_expect(squashes, false) ? drop_younger(self, squashed) : ~UINT64_C(0);
  if (PRECISE && __builtin_expect(data(order).valid, false)) take_order(self, &data(order));
  const uint32_t committed = commit(self, data(store_room) - self->stores_sent, interrupted && !self->ordered.valid);
  self->order.valid = self->to.valid = false;
  self->gone.resolved = 0;
  for (int i = 0; i < width(done); i++) {
    const completion *done = &data(done, i);
    if (!completion_status_valid(done->status)) continue;
    if (__builtin_expect(squashes, false) && CONTEXT(done->age) == squashed && !(kept >> PLACE(done->age) & 1))
      continue;
    finish_one(self, done);
  }
  if (__builtin_expect(self->wrong != 0, false)) set_right(self);
  if (width(overtaken) > 0)
    note_overtaken(self, data(overtaken) & kept &
                             places_from(self->first[0], self->tail[0] - self->first[0], param(entries)));
  if (PRECISE) follow_order(self, committed, interrupted);
  for (int i = 0; i < width(control); i++)
    if (__builtin_expect(some(control, i), false)) command(self, &data(control, i));
  enter_group(self, &data(in), squashes, squashed);
  count_entries(self);
}

next_event() {
  return self->moved ? cycle() : never();
}
