/* core_fetch.c: the program counter; see core_fetch.lss. */

#define CONTROLLED (width(control) > 0 || width(status) > 0 || param(start_halted))

static inline bool requests(const self_t *self) {
  return self->phase == core_fetch_phase_request && !(CONTROLLED && self->halted);
}

/* The pc was set from outside, and nothing is fetched from there before what ran until then has left: what arrives is
 * dropped, and branches go nowhere. */
static inline bool turns(const self_t *self) {
  return CONTROLLED && __builtin_expect(self->phase >= core_fetch_phase_unwanted, false);
}

init() {
  if (width(control) > 0 && width(done) == 0)
    sim_error("`control` is connected and `done` is not: connect what leaves the pipeline to `done`");
  self->pc = (uint32_t)param(reset_pc);
  self->halted = param(start_halted);
  self->fresh = true;
}

phase_start() {
  typeof_port(memory_request) request = {.op = mem_op_read, .size = 4, .address = self->pc & ~3u};
  send_if(memory_request, requests(self), request);
  typeof_port(status) report = {
      .halted = self->halted && self->outstanding == 0 && self->phase == core_fetch_phase_request, .pc = self->pc};
  send(status, report);
}

handler(deliver) {
  if (__builtin_expect(self->phase == core_fetch_phase_waits, false)) {
    typeof_port(out) waiting = {
        .pc = self->waiting_pc, .word = self->waiting_word, .fresh = self->fresh, .error = self->waiting_error};
    send(out, waiting);
  } else if (some(memory_reply) && !turns(self)) {
    typeof_port(out) item = {.pc = self->pc,
                             .word = (uint32_t)data(memory_reply).data,
                             .fresh = self->fresh,
                             .error = data(memory_reply).error | ((self->pc & 3) != 0)};
    send(out, item);
  } else {
    send_nothing(out);
  }
}

handler(commit) {
  enable(out, (self->phase == core_fetch_phase_waits) | enabled(memory_reply));
}

static inline void obey(self_t *self, core_control command) {
  if (command.set_halt) {
    self->halted = command.halt;
    self->stepping = false;
  }
  if (command.set_pc) {
    self->pc = command.pc;
    self->redirected = false;
    self->fresh = true;
    if (self->phase == core_fetch_phase_outstanding)
      self->phase = core_fetch_phase_unwanted;
    else if (self->phase != core_fetch_phase_unwanted)
      self->phase = self->outstanding > 0 ? core_fetch_phase_drains : core_fetch_phase_request;
  }
  if (command.step) {
    self->halted = false;
    self->stepping = true;
  }
  if (command.flush && self->phase == core_fetch_phase_waits) {
    self->target = self->pc; /* of the branch before it, if it is a delay slot */
    self->redirected = true;
    self->pc = self->waiting_pc;
    self->phase = core_fetch_phase_request;
  }
}

/* The outstanding word arrives: the one behind it is next. */
static inline void advance(self_t *self) {
  self->pc = __builtin_expect(self->redirected, false) ? self->target : self->pc + 4;
  self->redirected = false;
}

/* The end of a cycle in which nothing is fetched, because the pc was set. */
static __attribute__((noinline)) void turn(self_t *self, bool comes, bool done) {
  if (comes) self->phase = core_fetch_phase_drains;
  self->outstanding -= done;
  if (self->phase == core_fetch_phase_drains && self->outstanding == 0) self->phase = core_fetch_phase_request;
}

phase_end() {
  const bool commanded = transferred(control);
  if (turns(self)) {
    const bool comes = some(memory_reply) & enabled(memory_reply);
    turn(self, comes, transferred(done));
    if (commanded) obey(self, data(control));
    self->moved = comes | transferred(done) | commanded;
    return;
  }
  const bool waited = self->phase == core_fetch_phase_waits, arrives = some(memory_reply) & enabled(memory_reply);
  const bool leaves = transferred(out), sent = transferred(memory_request);
  const uint32_t pc = self->pc;
  if (sent)
    event(requested, pc);
  else if (requests(self))
    event(blocked, pc);
  /* What arrives and cannot continue waits here; what waited and was passed on makes room. */
  if (leaves) {
    self->phase = core_fetch_phase_request;
    self->fresh = false;
  } else if (arrives) {
    self->phase = core_fetch_phase_waits;
    self->waiting_pc = pc;
    self->waiting_word = (uint32_t)data(memory_reply).data;
    self->waiting_error = data(memory_reply).error | ((pc & 3) != 0);
  } else if (sent) {
    self->phase = core_fetch_phase_outstanding;
  }
  if (arrives) {
    event(fetched, pc, (uint32_t)data(memory_reply).data);
    advance(self);
  }
  if (__builtin_expect(transferred(redirect), false)) {
    if (arrives | waited) { /* the delay slot of the branch is here */
      self->pc = data(redirect);
    } else {
      self->target = data(redirect);
      self->redirected = true;
    }
  }
  if (CONTROLLED && __builtin_expect(self->stepping, false) && sent) self->halted = true, self->stepping = false;
  if (width(status) > 0 || width(control) > 0) self->outstanding += leaves - transferred(done);
  if (commanded) obey(self, data(control));
  if (width(status) > 0 && __builtin_expect(self->halted, false))
    self->moved = sent | arrives | leaves | transferred(redirect) | transferred(done) | commanded;
}

next_event() {
  return CONTROLLED && self->halted && self->phase != core_fetch_phase_waits && !self->moved ? never() : cycle();
}
