// core_fetch.c: the program counter; see core_fetch.lss.

#define CONTROLLED (width(control) > 0 || width(status) > 0 || param(start_halted))
#define PRECISE    (width(restart) > 0)
#define KILLED     (PRECISE && data(kill))

// Numbers of requests: one more than may be outstanding from before restarts.
#define FETCH_NUMBERS 4

static inline bool requests(const self_t *self) {
  if (PRECISE && (self->held_off || self->stale == FETCH_NUMBERS - 1)) return false;
  return self->phase == core_fetch_phase_request && !(CONTROLLED && self->halted);
}

// The pc was set from outside, and nothing is fetched from there before what ran until then has left: what arrives is
// dropped, and branches go nowhere.
static inline bool turns(const self_t *self) {
  return CONTROLLED && __builtin_expect(self->phase >= core_fetch_phase_unwanted, false);
}

// Whether a reply is to a request since the last restart.
static inline bool counts(const self_t *self, uint32_t tag) {
  return !PRECISE || tag == self->number;
}

init() {
  if (width(control) > 0 && width(done) == 0)
    sim_error("`control` is connected and `done` is not: connect what leaves the pipeline to `done`");
  self->pc = (uint32_t)param(reset_pc);
  self->halted = param(start_halted);
  self->fresh = true;
  self->at_rest = self->halted;
}

phase_start() {
  typeof_port(memory_request)
      request = {.op = mem_op_read, .size = 4, .tag = PRECISE ? self->number : 0, .address = self->pc & ~3u};
  send_if(memory_request, requests(self), request);
}

static inline typeof_port(status) status_of(const self_t *self) {
  return (typeof_port(status)){.halted =
                                   self->halted && self->outstanding == 0 && self->phase == core_fetch_phase_request,
                               .slot = PRECISE && self->redirected,
                               .pc = self->pc};
}

handler(show_status, i) {
  send(status, i, status_of(self));
}

handler(show_stopped, i) {
  send(stopped, i, self->at_rest);
}

handler(deliver) {
  if (KILLED) {
    send_nothing(out);
  } else if (__builtin_expect(self->phase == core_fetch_phase_waits, false)) {
    typeof_port(out) waiting = {
        .pc = self->waiting_pc, .word = self->waiting_word, .fresh = self->fresh, .error = self->waiting_error};
    send(out, waiting);
  } else if (some(memory_reply) && counts(self, data(memory_reply).tag) && !turns(self)) {
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

// Whether, from the next cycle on, it is halted with nothing in flight.
static inline bool rests(const self_t *self) {
  return self->halted && self->outstanding == 0 && self->phase == core_fetch_phase_request;
}

// Halts behind the fetch that a step was for.
static inline void step(self_t *self, bool sent) {
  if (!self->stepping | !sent) return;
  self->halted = true;
  self->stepping = false;
}

static inline void obey(self_t *self, core_control command) {
  self->refused = false;
  if (command.set_halt) {
    self->halted = command.halt;
    self->stepping = false;
  }
  if (command.set_pc) {
    self->pc = command.pc;
    self->redirected = self->held_off = false;
    self->fresh = true;
    if (self->phase == core_fetch_phase_outstanding) {
      self->phase = core_fetch_phase_unwanted;
    } else if (self->phase != core_fetch_phase_unwanted) {
      if (self->phase == core_fetch_phase_waits) event(withdrawn);
      self->phase = self->outstanding > 0 ? core_fetch_phase_drains : core_fetch_phase_request;
    }
  }
  if (command.step) {
    self->halted = false;
    self->stepping = true;
  }
  if (command.flush && self->phase == core_fetch_phase_waits) {
    self->target = self->pc; // of the branch before it, if it is a delay slot
    self->redirected = true;
    self->pc = self->waiting_pc;
    self->phase = core_fetch_phase_request;
    event(withdrawn);
  }
}

// A word arrives that was requested before a restart.
static __attribute__((noinline, unused)) void drop(self_t *self, uint32_t number) {
  if (self->stale == 0) sim_error("a word came with the number %u, and none is outstanding", (unsigned)number);
  self->stale--;
  self->refused = false;
  event(dropped, number);
}

// Continues elsewhere: what is here goes, what is outstanding is dropped when it arrives.  `oldest` is the pc of the
// oldest instruction that goes.
static __attribute__((noinline, unused)) void restart_at(self_t *self, core_restart restart, uint32_t oldest) {
  if (restart.refetch && self->redirected)
    sim_error("fetch restarts after a serializing instruction while a branch is pending: after 0x%08x",
              (unsigned)oldest);
  if (self->phase == core_fetch_phase_waits) event(withdrawn);
  if (self->phase == core_fetch_phase_outstanding) {
    self->stale++;
    self->number = (self->number + 1) % FETCH_NUMBERS;
  }
  self->pc = restart.refetch ? oldest : restart.pc;
  self->held_off = restart.hold;
  self->redirected = false;
  self->fresh = true;
  self->refused = false;
  self->phase = core_fetch_phase_request;
  set_until(changes, 2);
}

// The outstanding word arrives: the one behind it is next.
static inline void advance(self_t *self) {
  self->pc = __builtin_expect(self->redirected, false) ? self->target : self->pc + 4;
  self->redirected = false;
}

// The end of a cycle in which nothing is fetched, because the pc was set.
static __attribute__((noinline)) void turn(self_t *self, bool comes, bool done) {
  if (comes) {
    self->phase = core_fetch_phase_drains;
    event(withdrawn);
  }
  self->outstanding -= done;
  if (self->phase == core_fetch_phase_drains && self->outstanding == 0) self->phase = core_fetch_phase_request;
}

phase_end() {
  bool commanded = false;
  for (int i = 0; i < width(control); i++) commanded |= transferred(control, i);
  if (turns(self)) {
    const bool comes = (some(memory_reply) & enabled(memory_reply)) && counts(self, data(memory_reply).tag);
    turn(self, comes, transferred(done));
    if (KILLED) self->outstanding = data(restart).in_flight;
    for (int i = 0; commanded && i < width(control); i++)
      if (transferred(control, i)) obey(self, data(control, i));
    self->refused = false;
    self->moved = comes | transferred(done) | commanded;
    if (self->moved) set_until(changes, 2);
    self->at_rest = rests(self);
    return;
  }
  const bool waited = self->phase == core_fetch_phase_waits, replied = some(memory_reply) & enabled(memory_reply);
  const bool arrives = replied && counts(self, data(memory_reply).tag);
  const bool leaves = transferred(out), sent = transferred(memory_request);
  const uint32_t pc = self->pc;
  if (sent) {
    event(requested, pc);
  } else {
    self->refused = requests(self);
    if (self->refused) event(blocked, pc);
  }
  // What arrives and cannot continue waits here; what waited and was passed on makes room.
  if (leaves) {
    self->phase = core_fetch_phase_request;
    self->fresh = self->refused = false;
  } else if (arrives) {
    self->phase = core_fetch_phase_waits;
    self->waiting_pc = pc;
    self->waiting_word = (uint32_t)data(memory_reply).data;
    self->waiting_error = data(memory_reply).error | ((pc & 3) != 0);
    set_until(changes, 2);
  } else if (sent) {
    self->phase = core_fetch_phase_outstanding;
    self->refused = false;
  }
  if (arrives) {
    event(fetched, pc, (uint32_t)data(memory_reply).data);
    advance(self);
  }
  if (__builtin_expect(transferred(redirect), false)) {
    set_until(changes, 2);
    if (arrives | waited) { // the delay slot of the branch is here
      self->pc = data(redirect);
    } else {
      self->target = data(redirect);
      self->redirected = true;
    }
  }
  if (PRECISE && replied && !arrives) drop(self, data(memory_reply).tag);
  if (PRECISE && __builtin_expect(transferred(restart), false))
    restart_at(self, data(restart),
               transferred(held) ? data(held)
               : waited          ? self->waiting_pc
               : arrives         ? pc
                                 : self->pc);
  if (width(status) > 0 || width(stopped) > 0 || width(control) > 0) self->outstanding += leaves - transferred(done);
  if (KILLED) self->outstanding = data(restart).in_flight;
  if (__builtin_expect(commanded, false)) {
    step(self, sent);
    for (int i = 0; i < width(control); i++)
      if (transferred(control, i)) obey(self, data(control, i));
    self->moved = true;
    set_until(changes, 2);
    self->at_rest = rests(self);
  } else if ((CONTROLLED && __builtin_expect(self->halted | self->stepping, false)) || (PRECISE && self->held_off)) {
    step(self, sent);
    self->moved = sent | arrives | leaves | transferred(redirect) | transferred(done);
    self->at_rest = rests(self);
  }
}

// A word that is outstanding comes with its reply, one that is here goes on when it is taken, and so does a request.
next_event() {
  const bool stopped = (CONTROLLED && (self->halted | self->stepping)) || (PRECISE && self->held_off);
  if ((stopped && self->moved) || !within(changes, 0) || (requests(self) && !self->refused)) return cycle();
  const bool rests = (PRECISE && self->held_off && self->phase == core_fetch_phase_request) ||
                     (CONTROLLED && self->halted && self->phase != core_fetch_phase_waits);
  return rests ? never() : unchanged();
}
