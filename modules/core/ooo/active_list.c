/* active_list.c: program order, commitment and recovery; see active_list.lss. */
#include "core/ooo/places.h"
#include "core/trap_text.h"

#define PLACE(age) place_of_age((age), param(entries))

/* Whether what cannot be committed as it is is executed alone. */
#define PRECISE (width(serial) > 0)

/* From a branch to what is executed when it is not taken. */
#define BRANCH_BYTES (param(delay_slot) ? 8u : 4u)

init() {
  for (int i = 0; i < param(logical); i++) self->committed[i] = (uint8_t)i;
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
  send(head, i, self->first);
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

handler(show_committed, i) {
  typeof_port(committed) map;
  memcpy(map.of, self->committed, sizeof map.of);
  send(committed, i, map);
}

handler(show_completed, i) {
  send(completed, i, self->finished_instructions);
}

handler(show_status, i) {
  const bool waits = self->requested.valid | self->ordered.valid | self->order.valid;
  const bool empty = self->held == 0 && self->gone.count == 0 && !waits;
  send(status, i, ((core_status){.halted = empty, .slot = self->in_slot, .pc = self->started ? self->next_pc : 0}));
}

handler(look_up, i) {
  const renamed_op *from = &self->op[PLACE(data(read_age, i))];
  const execution found = {.pc = from->op.pc,
                           .next = from->op.next,
                           .immediate = from->op.immediate,
                           .control = from->op.control,
                           .snapshot = from->snapshot};
  send_if(read_value, i, some(read_age, i), found);
}

static __attribute__((noinline)) void fail(self_t *self, uint32_t place) {
  const micro_op *op = &self->op[place].op;
  const trap_cause fault = self->fault[place];
  note(pc, op->pc);
  if (fault == trap_cause_unaligned || fault == trap_cause_access)
    sim_error("%s: address 0x%08x, pc 0x%08x, instruction 0x%08x", core_trap_text(fault), (unsigned)self->target[place],
              (unsigned)op->pc, (unsigned)op->word);
  sim_error("%s: pc 0x%08x, instruction 0x%08x", core_trap_text(fault), (unsigned)op->pc, (unsigned)op->word);
}

/* A branch that is committed, for predictors. */
static inline void train(self_t *self, uint32_t place) {
  const uint32_t n = self->trained.count++;
  const micro_op *op = &self->op[place].op;
  self->trained.pc[n] = op->pc;
  self->trained.target[n] = self->target[place];
  self->trained.history[n] = op->history;
  self->trained.kind[n] = operation_flow(op->control);
  self->trained.taken[n] = self->taken >> place & 1;
  if (!param(delay_slot) && self->trained.taken[n])
    note(history, (core_jump){.behind = op->pc + BRANCH_BYTES, .to = self->target[place]});
}

/* Where the program did not go on with the next instruction: behind a delay slot, or a branch that annuls it. */
static inline void remember(self_t *self, uint32_t pc) {
  if (pc != self->following) note(history, (core_jump){.behind = self->following, .to = pc});
  self->following = pc + 4;
}

static inline void emit_retire(self_t *self, uint32_t place) {
  const renamed_op *op = &self->op[place];
  const bool stores = operation_kind(op->op.control) == operation_class_store;
  if (param(parts) > 1 && operation_more(op->op.control)) return;
  if (param(delay_slot)) remember(self, op->op.pc);
  if (param(observed)) note(pc, op->op.pc);
  event(retire, op->op.pc, op->op.word, self->value[place], op->logical ? op->logical : 32, self->target[place],
        stores ? self->size[place] : 0);
  const uint32_t number = call(marker, op->op.word);
  if (number) event(marker, number);
}

/* Where the program goes on behind an operation that is committed. */
static inline void follow(self_t *self, uint32_t place) {
  const micro_op *op = &self->op[place].op;
  self->started = true;
  self->inside = param(parts) > 1 && operation_more(op->control);
  if (self->inside) return;
  self->next_pc = self->in_slot ? self->behind_slot : op->pc + 4;
  self->in_slot = false;
  if (operation_flow(op->control) == branch_kind_none) return;
  self->in_slot = param(delay_slot) && !(operation_likely(op->control) && !(self->taken >> place & 1));
  *(self->in_slot ? &self->behind_slot : &self->next_pc) = self->target[place];
}

/* Asks for the oldest instruction to be executed alone, or has it fetched anew. */
static __attribute__((noinline)) void ask(self_t *self, uint32_t place) {
  const micro_op *op = &self->op[place].op;
  if (self->fault[place] == trap_cause_overtaken) {
    self->ordered = (serial_order){.valid = true, .drops = true, .next = true};
    count(anew);
    return;
  }
  self->requested = (serial_request){.valid = true,
                                     .slot = self->in_slot,
                                     .cause = self->fault[place],
                                     .dest = op->dest,
                                     .source = {op->source[0], op->source[1]},
                                     .age = self->first,
                                     .pc = op->pc,
                                     .word = op->word,
                                     .immediate = op->immediate};
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

/* Commits what was finished when the cycle began; how many. */
static inline uint32_t commit(self_t *self, uint32_t store_room, bool interrupted) {
  const uint32_t held = self->tail - self->first, most = committable(self);
  uint32_t n = 0, stores = 0, unfinished = 0;
  self->trained.count = 0;
  for (uint32_t i = 0; i < (uint32_t)param(commit_width); i++) {
    const uint32_t place = PLACE(self->first + i);
    if (i >= held || !(self->finished >> place & 1)) break;
    if (PRECISE && __builtin_expect(i >= most || (interrupted && between_instructions(self)), false)) break;
    if (__builtin_expect(self->fault[place] != trap_cause_none, false)) {
      if (i > 0 || self->ordered.valid) break;
      if (PRECISE)
        ask(self, place);
      else
        fail(self, place);
      break;
    }
    const operation c = self->op[place].op.control;
    if (operation_kind(c) == operation_class_store && stores++ == store_room) {
      stores--;
      break;
    }
    self->finished &= ~(UINT64_C(1) << place);
    self->gone.old[i] = self->op[place].old;
    self->committed[self->op[place].logical] = self->op[place].op.dest; /* of none both are 0 */
    if (operation_flow(c) != branch_kind_none) train(self, place);
    if (param(parts) > 1) unfinished += operation_more(c);
    if (PRECISE) follow(self, place);
    emit_retire(self, place);
    n++;
  }
  self->gone.count = (uint8_t)n;
  self->stores_sent = stores;
  if (n > 0) note(pc, self->op[PLACE(self->first + n - 1)].op.pc);
  self->first += n;
  if (width(completed) > 0) self->finished_instructions = n - unfinished;
  count(instructions, n - unfinished);
  count(branches, self->trained.count);
  return n;
}

/* The oldest branch that went elsewhere than predicted: what is younger is dropped, and fetch continues there. */
static inline void redirect(self_t *self, const completion *done) {
  const micro_op *op = &self->op[PLACE(done->age)].op;
  const branch_kind kind = operation_flow(op->control);
  const bool slot = param(delay_slot) && !(operation_likely(op->control) && !done->taken);
  self->order = (squash_order){.valid = true, .snapshot = done->snapshot, .age = done->age};
  self->to = (fetch_redirect){.valid = true,
                              .push = kind == branch_kind_call,
                              .delayed = slot,
                              .top = (uint8_t)(op->top - (kind == branch_kind_subroutine_return)),
                              .history = kind == branch_kind_conditional ? (uint32_t)op->history << 1 | done->taken
                                                                         : op->history,
                              .pc = slot ? op->pc + 4 : done->target,
                              .target = slot ? done->target : 0,
                              .link = op->pc + BRANCH_BYTES};
}

static inline void finish_one(self_t *self, const completion *done) {
  const uint32_t place = PLACE(done->age);
  const uint64_t bit = UINT64_C(1) << place;
  self->finished |= bit;
  self->fault[place] = done->fault;
  self->target[place] = done->target;
  if (param(observed)) {
    self->value[place] = done->value;
    self->size[place] = done->size;
  }
  if (!done->branch) return;
  self->taken = (self->taken & ~bit) | (done->taken ? bit : 0);
  if (!done->redirects)
    self->gone.resolved |= UINT64_C(1) << done->snapshot;
  else if (!self->order.valid || place_younger(self->order.age, done->age))
    redirect(self, done);
}

static inline void enter(self_t *self, const renamed_op *op) {
  const uint32_t place = PLACE(op->age);
  self->op[place] = *op;
  self->fault[place] = operation_trap(op->op.control);
  if (param(observed)) self->value[place] = self->target[place] = 0;
  if (operation_kind(op->op.control) == operation_class_none) self->finished |= UINT64_C(1) << place;
}

/* All in flight is dropped, and fetch goes on where that was ordered. */
static __attribute__((noinline)) void drop_all(self_t *self) {
  const uint32_t top = self->op[PLACE(self->first)].op.top, history = self->op[PLACE(self->first)].op.history;
  if (!self->ordered.next) {
    self->next_pc = self->ordered.pc;
    self->in_slot = false;
  }
  self->order = (squash_order){.valid = true, .all = true, .age = self->first - 1};
  self->to = (fetch_redirect){.valid = true,
                              .hold = self->ordered.hold,
                              .delayed = self->in_slot,
                              .top = (uint8_t)top,
                              .history = history,
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
    self->requested = (serial_request){.valid = true, .pc = self->next_pc, .age = self->first};
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
  return !self->order.valid && (self->gone.count | self->gone.resolved) == 0 &&
         (self->finished & place_bit(self->first, param(entries))) == 0;
}

phase_end() {
  const bool squashes = self->order.valid;
  const bool interrupted = PRECISE && data(interrupt) && !self->ordered.valid;
  if (data(in).count == 0 && quiet(self) && !called(self, interrupted, data(order).valid) && data(overtaken) == 0) {
    bool completes = false;
    for (int i = 0; i < width(done); i++) completes |= data(done, i).valid;
    for (int i = 0; i < width(control); i++) completes |= some(control, i);
    if (!completes) {
      if (!self->moved) unchanged();
      self->moved = false;
      return;
    }
  }
  self->moved = true;
  uint64_t kept = ~UINT64_C(0);
  if (__builtin_expect(squashes, false)) {
    count(squashed, self->tail - (self->order.age + 1));
    kept = places_from(self->first, self->order.age + 1 - self->first, param(entries));
    self->tail = self->order.age + 1;
    self->finished &= kept;
  }
  if (PRECISE && __builtin_expect(data(order).valid, false)) take_order(self, &data(order));
  const uint32_t committed = commit(self, data(store_room) - self->stores_sent, interrupted && !self->ordered.valid);
  self->order.valid = self->to.valid = false;
  self->gone.resolved = 0;
  for (int i = 0; i < width(done); i++)
    if (data(done, i).valid && (!squashes || kept >> PLACE(data(done, i).age) & 1)) finish_one(self, &data(done, i));
  if (__builtin_expect(self->order.valid, false)) {
    count(mispredicted);
    count(indirect, operation_kind(self->op[PLACE(self->order.age)].op.control) == operation_class_indirect);
  }
  if (width(overtaken) > 0)
    note_overtaken(self, data(overtaken) & kept & places_from(self->first, self->tail - self->first, param(entries)));
  if (PRECISE) follow_order(self, committed, interrupted);
  for (int i = 0; i < width(control); i++)
    if (__builtin_expect(some(control, i), false)) command(self, &data(control, i));
  const uint32_t came = squashes ? 0 : data(in).count;
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    enter(self, &data(in).op[i]);
  }
  self->tail += came;
  self->held = self->tail - self->first;
  self->space = (uint32_t)param(window) - self->held;
}

next_event() {
  return self->moved ? cycle() : never();
}
