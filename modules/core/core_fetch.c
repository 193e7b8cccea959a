/* core_fetch.c: the program counter; see core_fetch.lss. */

#define CONTROLLED (width(control) > 0 || width(status) > 0 || param(start_halted))

static inline bool requests(const self_t *self) {
  return self->phase == core_fetch_phase_request && !(CONTROLLED && self->halted);
}

init() {
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
  } else if (some(memory_reply)) {
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
    self->phase = self->phase == core_fetch_phase_waits ? core_fetch_phase_request : self->phase;
    self->fresh = true;
  }
  if (command.step) {
    self->halted = false;
    self->stepping = true;
  }
  if (command.flush && self->phase == core_fetch_phase_waits) {
    self->pc = self->waiting_pc;
    self->phase = core_fetch_phase_request;
  }
}

/* The outstanding word arrives: the one behind it is next. */
static inline void advance(self_t *self) {
  self->pc = __builtin_expect(self->redirected, false) ? self->target : self->pc + 4;
  self->redirected = false;
}

phase_end() {
  const bool waited = self->phase == core_fetch_phase_waits, arrives = some(memory_reply) & enabled(memory_reply);
  const bool leaves = transferred(out), sent = transferred(memory_request);
  const uint32_t pc = self->pc;
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
  if (width(status) > 0) self->outstanding += leaves - transferred(done);
  if (transferred(control)) obey(self, data(control));
}

next_event() {
  return CONTROLLED && self->halted && self->phase != core_fetch_phase_waits ? never() : cycle();
}
