// mips_vpe_control.c: what VPEs share and ask of each other; see mips_vpe_control.lss.
#include "core/mips/mips_thread.h"

#define VPES ((uint32_t)param(vpes))

init() {
  self->runs[0] = true;
}

// The word that is loaded, of one, two of TCRestart (of which the second counts), or HI and LO.
static core_state_word loaded_word(const self_t *self) {
  const thread_request r = self->request[self->served];
  if (self->step == thread_step_rewinds) return (core_state_word){0}; // register 0
  switch (r.kind) {
  case thread_kind_general: return (core_state_word){.number = r.number, .value = r.value};
  case thread_kind_hi:
  case thread_kind_lo:
    if (self->part == 0)
      return (core_state_word){.number = MIPS_WORD_HI, .value = r.kind == thread_kind_hi ? r.value : self->hi};
    return (core_state_word){.number = MIPS_WORD_LO, .value = r.kind == thread_kind_lo ? r.value : self->lo};
  default:
    if (self->part == 0) return (core_state_word){.number = MIPS_WORD_PC, .value = r.value};
    return (core_state_word){.number = MIPS_WORD_WAITING};
  }
}

phase_start() {
  const uint32_t target = self->request[self->served].tc;
  const bool loads = self->step == thread_step_rewinds || self->step == thread_step_loads;
  for (int i = 0; i < width(threads_reply); i++)
    send_if(threads_reply, i, self->phase[i] == thread_phase_replies || self->phase[i] == thread_phase_retries,
            ((thread_reply){.value = self->reply[i], .retry = self->phase[i] == thread_phase_retries}));
  for (int i = 0; i < width(remote_request); i++)
    send_if(remote_request, i, self->step == thread_step_reaches && target == (uint32_t)i, self->request[self->served]);
  for (int i = 0; i < width(control); i++)
    send_if(control, i, self->notified[i], ((core_control){.set_halt = true, .halt = !self->runs[i]}));
  for (int i = 0; i < width(load); i++) send_if(load, i, loads && target == (uint32_t)i, loaded_word(self));
  for (int i = 0; i < width(save); i++) accept(save, i, self->step == thread_step_saves && target == (uint32_t)i);
}

// The request that is served is done; one that changes something replies when all who may not execute have halted.
static void done(self_t *self, uint32_t reply) {
  self->step = thread_step_idle;
  self->reply[self->served] = reply;
  self->phase[self->served] =
      self->request[self->served].op == thread_op_read ? thread_phase_replies : thread_phase_halts;
}

static void fail(self_t *self) {
  count(unreachable);
  done(self, ~0u);
}

static void access_shared(self_t *self, thread_request r) {
  const uint32_t before = self->mvp_control;
  self->mvp_control = mips_mvp_control_after(before, mips_thread_to(r), r.master);
  if (before & ~self->mvp_control & MIPS_MVPCONTROL_EVP) self->alone = self->served;
  done(self, mips_mvp_read(mips_thread_cp0(r), before, VPES));
}

// A register that only a VPE that is halted shows.
static void access_state(self_t *self, thread_request r, core_status status) {
  const bool restart = r.kind == thread_kind_cp0;
  self->part = 0;
  if (restart && r.op == thread_op_read)
    done(self, status.slot ? status.pc - 4 : status.pc);
  else if (restart)
    self->step = thread_step_reaches; // whose link ends
  else if (r.op == thread_op_write && r.kind == thread_kind_general)
    self->step = thread_step_loads;
  else
    self->step = thread_step_rewinds;
}

// Whether a register can be had only of a VPE that is halted.
static bool needs_halt(thread_request r) {
  return r.kind != thread_kind_cp0 || mips_thread_cp0(r) == MIPS_CP0_TCRestart;
}

// Whether a VPE is to execute, whose registers say so or not.
static bool may_execute(const self_t *self, uint32_t i, bool runs) {
  return runs && ((self->mvp_control & MIPS_MVPCONTROL_EVP) || self->alone == i);
}

// A request that waits is put off: what its instruction depends on may change.
static void put_off(self_t *self, uint32_t i) {
  if (self->phase[i] != thread_phase_waits) return;
  self->phase[i] = thread_phase_retries;
  self->reply[i] = 0;
  count(put_off);
}

// Whether a VPE that is not to execute has halted, which it cannot while it waits.
static bool has_halted(self_t *self, uint32_t i, core_status status) {
  if (self->notified[i]) return false;
  if (!status.halted) put_off(self, i);
  return status.halted;
}

// Begins to serve the request of a VPE; false: it has to wait, for one that has yet to halt.
static bool begin(self_t *self, uint32_t i, bool master, const core_status *statuses) {
  thread_request *r = &self->request[i];
  const uint32_t tc = r->tc;
  const bool reaches = mips_thread_reaches(mips_thread_to(*r), i, VPES, master);
  if (reaches && needs_halt(*r) && !self->runs[tc] && !has_halted(self, tc, statuses[tc])) return false;
  if (reaches && tc != i && r->op == thread_op_write) {
    if (self->phase[tc] > thread_phase_retries) return false; // its instruction comes first
    put_off(self, tc);
  }
  self->served = (uint8_t)i;
  r->master = master;
  r->own = tc == i;
  if (!reaches)
    fail(self);
  else if (needs_halt(*r) && statuses[tc].halted && !self->runs[tc])
    access_state(self, *r, statuses[tc]);
  else if (needs_halt(*r) || mips_thread_cp0(*r) == MIPS_CP0_NONE)
    fail(self);
  else if (mips_is_mvp(mips_thread_cp0(*r)))
    access_shared(self, *r);
  else
    self->step = thread_step_reaches;
  return true;
}

// What the system control of a VPE replied.
static void reached(self_t *self, uint32_t reply, core_status status) {
  const thread_request r = self->request[self->served];
  const enum mips_cp0 n = mips_thread_cp0(r);
  if (n == MIPS_CP0_TCRestart)
    self->step = thread_step_loads;
  else
    done(self, reply | (n == MIPS_CP0_TCStatus && status.halted && status.slot ? MIPS_TCSTATUS_TDS : 0));
}

static void saved(self_t *self, core_state_word word) {
  const thread_request r = self->request[self->served];
  const uint32_t last = r.kind == thread_kind_general                        ? r.number
                        : r.kind == thread_kind_hi && r.op == thread_op_read ? MIPS_WORD_HI
                                                                             : MIPS_WORD_LO;
  if (word.number == MIPS_WORD_HI) self->hi = word.value;
  if (word.number == MIPS_WORD_LO) self->lo = word.value;
  if (word.number != last) return;
  if (r.op == thread_op_read)
    done(self, word.value);
  else
    self->step = thread_step_loads;
}

static void loaded(self_t *self) {
  const bool single = self->request[self->served].kind == thread_kind_general;
  if (self->step == thread_step_rewinds)
    self->step = thread_step_saves;
  else if (single || self->part++ > 0)
    done(self, 0);
}

// Who is to execute, and is told so.
static void decide(self_t *self, uint32_t i, bool runs) {
  const bool executes = may_execute(self, i, runs);
  self->notified[i] = executes != self->runs[i];
  self->runs[i] = executes;
  if (self->notified[i]) event(executes, i, executes);
}

// Whether nobody executes who may not; one that waits for a request does not.
static bool all_halted(const self_t *self, uint32_t but, const core_status *statuses) {
  for (uint32_t i = 0; i < VPES; i++) {
    if (self->notified[i]) return false;
    if (i != but && !self->runs[i] && !statuses[i].halted && self->phase[i] == thread_phase_none) return false;
  }
  return true;
}

phase_end() {
  core_status statuses[VPES];
  for (int i = 0; i < width(threads_request); i++) {
    statuses[i] = data(status, i);
    decide(self, (uint32_t)i, data(vpe, i).runs);
    if (self->phase[i] == thread_phase_replies || self->phase[i] == thread_phase_retries)
      self->phase[i] = thread_phase_none;
    if (!transferred(threads_request, i)) continue;
    self->request[i] = data(threads_request, i);
    self->phase[i] = thread_phase_waits;
    count(requests);
  }
  for (uint32_t i = 0; i < VPES; i++) {
    const bool stopped = !self->runs[i] && !self->notified[i];
    if (self->phase[i] == thread_phase_halts && (stopped || all_halted(self, i, statuses)))
      self->phase[i] = thread_phase_replies;
    else if (stopped)
      put_off(self, i); // what its processor keeps for instructions behind it, others may need in order to halt
  }
  for (int i = 0; i < width(load); i++) {
    if (transferred(remote_reply, i)) reached(self, data(remote_reply, i).value, statuses[i]);
    if (transferred(save, i)) saved(self, data(save, i));
    if (transferred(load, i)) loaded(self);
  }
  const uint32_t last = self->served;
  for (uint32_t n = 1; n <= VPES && self->step == thread_step_idle; n++) {
    const uint32_t i = (last + n) % VPES;
    if (self->phase[i] == thread_phase_waits && may_execute(self, i, data(vpe, i).runs))
      begin(self, i, data(vpe, i).master, statuses);
  }
}

next_event() {
  bool busy = false;
  for (uint32_t i = 0; i < VPES; i++) busy |= self->notified[i] || self->phase[i] != thread_phase_none;
  return busy ? cycle() : never();
}

#undef VPES
