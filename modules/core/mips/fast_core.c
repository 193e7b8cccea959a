// fast_core.c: a functional processor and its RAM; see fast_core.lss.
#include "core/mips/fast_core.h"

#include "emulib/mips/quantum.h"
#include "memory/memory_access.h"

#define TIMER_PENDING ((uint32_t)MIPS_CAUSE_TI | 1u << (MIPS_CAUSE_IP_SHIFT + 7))
#define LINES_PENDING (0x1fu << (MIPS_CAUSE_IP_SHIFT + 2))
#define CP0(name)     self->processor.cp0[MIPS_CP0_##name]
#define STATE_WORDS   mips_words((uint32_t)param(tlb_entries))

static struct mips_system_options options_of(const self_t *self) {
  (void)self;
  return (struct mips_system_options){
      .big_endian = param(big_endian),
      .user_local = param(user_local),
      .tlb_entries = (uint8_t)param(tlb_entries),
      .count_divider = (uint8_t)param(count_divider),
      .prid = (uint32_t)param(prid),
      .icache = {(uint16_t)param(icache_sets), (uint8_t)param(icache_ways), (uint8_t)param(icache_line)},
      .dcache = {(uint16_t)param(dcache_sets), (uint8_t)param(dcache_ways), (uint8_t)param(dcache_line)}};
}

// The state, and emulib's picture of it, in which time begins anew with each step.

static struct mips_architecture architecture_of(const self_t *self) {
  struct mips_architecture cpu;
  fast_core_unpack(&cpu, &self->processor, until(timer), (uint32_t)param(count_divider));
  cpu.next_pc = self->next_pc;
  cpu.delayed = self->delayed;
  cpu.linked = self->linked;
  cpu.link = self->link;
  return cpu;
}

static void keep(self_t *self, const struct mips_architecture *cpu) {
  fast_core_pack(&self->processor, cpu);
  self->next_pc = cpu->next_pc;
  self->delayed = cpu->delayed;
  self->linked = cpu->linked;
  self->link = cpu->link;
  set_until(timer, cpu->timer_cycle == UINT64_MAX ? never() : cpu->timer_cycle - FAST_CORE_BEGIN);
}

init() {
  const struct mips_system_options options = options_of(self);
  struct mips_architecture cpu;
  mips_quantum_reset(&options, &cpu);
  fast_core_pack(&self->processor, &cpu);
  self->processor.pc = (uint32_t)param(reset_pc);
  self->next_pc = (uint32_t)param(reset_pc) + 4;
  self->processor.timer = cpu.timer_cycle;
  set_until(timer, never());
}

// Interrupts that end a wait.
static inline bool interrupted(const self_t *self) {
  const uint32_t cause = (CP0(Cause) & ~LINES_PENDING) | self->levels;
  return (cause & CP0(Status) & MIPS_CAUSE_IP) != 0;
}

static inline bool sleeps(const self_t *self) {
  return self->processor.waiting && !interrupted(self);
}

// The mode in which the state lets it go on.
static inline mips_mode mode_of(const self_t *self) {
  if (self->processor.waiting) return mips_mode_idle;
  return mips_is_user(CP0(Status)) ? mips_mode_user : mips_mode_kernel;
}

static inline bool is_halted(const self_t *self) {
  return self->phase <= fast_phase_gone;
}

check_state() {
  const uint32_t entries = (uint32_t)param(tlb_entries), random = CP0(Random), wired = CP0(Wired);
  if (random >= entries || wired >= entries)
    sim_error("Random is %u and Wired %u, of a TLB of %u entries", (unsigned)random, (unsigned)wired,
              (unsigned)entries);
  if (self->position >= STATE_WORDS) sim_error("the state has no word %u", (unsigned)self->position);
}

phase_start() {
  const bool halted = is_halted(self);
  const core_status report = {.halted = halted, .pc = self->passes ? self->passing_pc : self->processor.pc};
  for (int i = 0; i < width(status); i++) send(status, i, report);
  for (int i = 0; i < width(completed); i++) send(completed, i, self->completed);
  for (int i = 0; i < width(load); i++) accept(load, i, halted);
}

handler(judge) {
  set(suspended, !some(limit) || is_halted(self));
  if (some(limit) && self->phase == fast_phase_halted) {
    const uint32_t number = self->position;
    send(save,
         ((core_state_word){
             .number = number, .value = fast_core_word(&self->processor, number), .last = number + 1 == STATE_WORDS}));
  } else {
    send_nothing(save);
  }
}

handler(commit_save) {
  enable(save, enabled(limit));
}

// Requests to devices: its own, or those of another processor.

handler(ask) {
  if (!get(suspended))
    send_if(uncached_request, self->phase == fast_phase_requests && within(passed, 0), self->request);
  else if (__builtin_expect(some(others_request), false))
    send(uncached_request, data(others_request));
  else
    send_nothing(uncached_request);
}

handler(accept) {
  for (int i = 0; i < width(others_request); i++) accept(others_request, i, get(suspended) & acked(uncached_request));
}

handler(commit) {
  enable(uncached_request, get(suspended) ? enabled(others_request) : acked(uncached_request) && enabled(limit));
}

handler(pass) {
  for (int i = 0; i < width(others_reply); i++) {
    if (__builtin_expect(get(suspended) & some(uncached_reply), false))
      send(others_reply, i, data(uncached_reply));
    else
      send_nothing(others_reply, i);
  }
}

handler(commit_reply) {
  for (int i = 0; i < width(others_reply); i++) enable(others_reply, i, enabled(uncached_reply));
}

// The RAM for everybody else.

// Where a request falls; false when nothing replies to it.
static inline bool locate(uint32_t address, uint32_t size, uint32_t *offset) {
  *offset = address;
  return size - 1 < (uint32_t)param(width) / 8 && (uint64_t)address + size <= (uint64_t)param(size);
}

handler(reply) {
  typeof_port(port_reply) reply = {0};
  mem_snoop written = {0};
  const bool present = some(port_request) && enabled(port_request);
  if (present) {
    const uint32_t size = data(port_request).size;
    const mem_op op = data(port_request).op;
    uint32_t offset;
    reply.tag = data(port_request).tag;
    if (op < mem_op_barrier) {
      reply.error = op > mem_op_write || !locate(data(port_request).address, size, &offset);
      if (!reply.error && op == mem_op_read) {
        memory_to_number(&reply.data, load_span(bytes, offset, size), size, param(big_endian));
        if (data(port_request).sign) extend_sign(&reply.data, size, sizeof reply.data);
      } else if (!reply.error) {
        written = (mem_snoop){.address = offset, .size = size, .tag = reply.tag};
      }
    }
  }
  send_if(port_reply, present, reply);
  for (int i = 0; i < width(snoop); i++) send_if(snoop, i, written.size > 0, written);
}

// Whether a write ends the link.
static inline void end_link(self_t *self, uint32_t offset, uint32_t size) {
  if (offset < self->link + MIPS_LINK_LINE && self->link < offset + size) self->linked = false;
}

// Modes.

_Static_assert((MIPS_QUANTUM_MODES + 2) * sizeof(mode_change) <= sizeof((self_t *)0)->changes,
               "all changes have a place");

// Adds up so many cycles of the plan by mode, and returns the mode of the next.
static mips_mode add_cycles(const self_t *self, uint64_t cycles, uint64_t spent[4]) {
  mips_mode mode = self->mode;
  uint64_t begun = 0;
  for (int n = 0; n < self->changes_planned && self->changes[n].cycles <= cycles; n++) {
    spent[mode] += self->changes[n].cycles - begun;
    begun = self->changes[n].cycles;
    mode = self->changes[n].mode;
  }
  spent[mode] += cycles - begun;
  return mode;
}

// What has passed of the plan is counted, and the next begins with the next cycle.
static void begin_plan(self_t *self) {
  uint64_t spent[4] = {0}, unused[4] = {0};
  self->was_user = add_cycles(self, elapsed(planned), unused) == mips_mode_user;
  self->mode = add_cycles(self, elapsed(planned) + 1, spent);
  for (int k = 0; k < 4; k++) count(spent[k], spent[k]);
  self->changes_planned = 0;
  set_stamp(planned, 1);
}

// After so many cycles of the plan the mode is another.
static void plan_mode(self_t *self, uint64_t cycles, mips_mode mode) {
  const int n = self->changes_planned;
  if (mode == (n > 0 ? self->changes[n - 1].mode : self->mode)) return;
  self->changes[n] = (mode_change){.cycles = (uint32_t)cycles, .mode = mode};
  self->changes_planned++;
}

// In the first cycle of a mode.  An event for each is cheap only where somebody reads it.
static void report_mode(self_t *self) {
  const uint64_t cycles = elapsed(planned);
  uint64_t unused[4] = {0};
  const bool was_user = cycles > 0 ? add_cycles(self, cycles - 1, unused) == mips_mode_user : self->was_user;
  const bool user = add_cycles(self, cycles, unused) == mips_mode_user;
  if (user != was_user) event(mode, user);
}

// When report_mode() has something to do.
static uint64_t until_mode(const self_t *self) {
  if (!passed(planned, 1) && self->was_user != (self->mode == mips_mode_user)) return until_passed(planned, 0);
  for (int n = 0; n < self->changes_planned; n++)
    if (!passed(planned, self->changes[n].cycles + 1)) return until_passed(planned, self->changes[n].cycles);
  return never();
}

statistics() {
  uint64_t cycles[4] = {0};
  add_cycles(self, elapsed(planned), cycles);
  for (int k = 0; k < 4; k++) cycles[k] += counted(spent[k]);
  counted(kernel_cycles) = cycles[mips_mode_kernel];
  counted(user_cycles) = cycles[mips_mode_user];
  counted(idle_cycles) = cycles[mips_mode_idle];
  counted(halted_cycles) = cycles[mips_mode_halted];
}

// Steps.

// The timer comes while no instruction is executed.
static void expire(self_t *self) {
  CP0(Cause) |= TIMER_PENDING;
  set_until(timer, (UINT64_C(1) << 32) * (uint64_t)param(count_divider));
}

// Of a step whose cycles have passed: what it did is counted and reported in the cycle of its last instruction.
static void end_step(self_t *self) {
  self->passes = false;
  self->completed += self->done;
  count(instructions, self->done);
  count(steps);
  for (int k = 0; k < 14; k++) count(exceptions[k], self->raised[k]);
  count(refills, self->refilled);
  count(unimplemented, self->absent);
  if (self->marker != 0) event(marker, self->marker);
  event(executed, self->processor.pc, self->done);
  self->marker = 0;
  self->done = 0;
}

// What the next instruction wants of a device.
static void request(self_t *self, const struct mips_quantum_request *wanted) {
  const mem_op op = wanted->access == MIPS_STORE ? mem_op_write : mem_op_read;
  self->fetches = wanted->access == MIPS_FETCH;
  self->request = (mem_request_32){.op = op, .size = wanted->size, .address = wanted->address, .data = wanted->value};
  self->phase = fast_phase_requests;
  self->offered = false;
  count(device_requests);
}

// Executes up to a limit, which may have come; `reply` is what a device replied to the instruction's load or store.
static void step(self_t *self, core_limit limit, struct mips_quantum_reply reply) {
  const struct mips_system_options options = options_of(self);
  uint64_t most = self->halting ? 1 : (uint64_t)param(quantum);
  if (limit.by_instructions && !self->halting) {
    const uint64_t left = limit.instructions > self->completed ? limit.instructions - self->completed : 0;
    if (left < most) most = left;
  }
  begin_plan(self);
  CP0(Cause) = (CP0(Cause) & ~LINES_PENDING) | self->levels;
  struct mips_architecture cpu = architecture_of(self);
  struct mips_quantum q = {
      .options = &options, .cpu = &cpu, .memory = store_span(bytes, 0, param(size)), .size = (uint32_t)param(size)};
  q.fetched = (struct mips_quantum_reply){self->fetched, self->fetch_failed, self->fetched_word};
  q.referred = reply;
  q.until = FAST_CORE_BEGIN + most;
  q.to_pc = limit.by_pc && !self->halting;
  q.pc = limit.pc;
  const enum mips_pause pause = mips_quantum_run(&q);
  const uint64_t cycles = cpu.cycle - FAST_CORE_BEGIN;
  self->passing_pc = self->processor.pc;
  self->processor.waiting = false;
  plan_mode(self, 0, mode_of(self));
  for (unsigned n = 0; n < q.modes; n++)
    plan_mode(self, q.mode[n].cycle - FAST_CORE_BEGIN, q.mode[n].user ? mips_mode_user : mips_mode_kernel);
  keep(self, &cpu);
  if (self->processor.waiting) plan_mode(self, cycles, mips_mode_idle);
  self->fetched = q.fetched.present;
  self->done = cycles - q.statistics.failed;
  for (int k = 0; k < 14; k++) self->raised[k] = (uint32_t)q.statistics.exceptions[k];
  self->refilled = (uint32_t)q.statistics.refills;
  self->absent = (uint32_t)q.statistics.unimplemented;
  self->marker = q.marker;
  self->passes = true;
  set_until(passed, cycles);
  if (q.request.present) request(self, &q.request);
  if (pause == MIPS_PAUSE_THERE || (q.marker != 0 && limit.by_marker && q.marker == limit.marker) ||
      (limit.by_instructions && self->completed + self->done >= limit.instructions))
    self->halting = true;
}

// Commands.

static void obey(self_t *self, core_control command) {
  if (command.set_pc) {
    if (!is_halted(self)) sim_error("the pc is set while the processor executes");
    self->processor.pc = command.pc;
    self->processor.waiting = false;
    self->next_pc = command.pc + 4;
    self->delayed = false;
  }
  if (!command.set_halt) return;
  self->halting = command.halt;
  if (!is_halted(self) || command.halt) return;
  self->phase = fast_phase_runs;
  begin_plan(self);
  plan_mode(self, 0, mode_of(self));
  self->completed = self->position = 0;
  set_until(passed, 1);
  set_until(timer, self->processor.timer > never() ? never() : self->processor.timer);
}

// Count stands still.
static void halt(self_t *self) {
  self->phase = fast_phase_halted;
  begin_plan(self);
  plan_mode(self, 0, mips_mode_halted);
  self->processor.timer = until(timer) == never() ? UINT64_MAX : until(timer);
  set_until(timer, never());
}

// A word of the state was taken.
static void advance(self_t *self, bool last) {
  self->position = last ? 0 : self->position + 1;
  if (last) self->phase = fast_phase_gone;
}

// One came.
static void take(self_t *self, core_state_word word) {
  fast_core_set_word(&self->processor, word.number, word.value);
  self->next_pc = self->processor.pc + 4;
  self->delayed = self->linked = false;
  self->link = 0;
}

// What a device replies.
static struct mips_quantum_reply receive(self_t *self, bool error, uint32_t value) {
  self->phase = fast_phase_runs;
  self->request = (mem_request_32){0};
  if (!self->fetches) return (struct mips_quantum_reply){true, error, value};
  self->fetched = true;
  self->fetch_failed = error;
  self->fetched_word = value;
  return (struct mips_quantum_reply){0};
}

// A write of somebody else.
static inline void write(self_t *self, const typeof_port(port_request) * request) {
  uint32_t offset;
  if (!locate(request->address, request->size, &offset)) return;
  number_to_memory(store_span(bytes, offset, request->size), &request->data, request->size, param(big_endian));
  if (self->linked) end_link(self, offset, request->size);
}

// A block of contents, all of which must be in the RAM.
static __attribute__((noinline)) void store_block(self_t *self, const mem_block *block) {
  if (block->size > sizeof block->bytes || (uint64_t)block->address + block->size > (uint64_t)param(size))
    sim_error("%u bytes of contents at 0x%x do not fit: the memory is 0x0 to 0x%llx (make it larger)", block->size,
              block->address, (unsigned long long)param(size) - 1);
  memcpy(store_span(bytes, block->address, block->size), block->bytes, block->size);
  if (self->linked) end_link(self, block->address, block->size);
}

phase_end() {
  bool loaded = false;
  for (int i = 0; i < width(contents); i++) loaded |= transferred(contents, i);
  const bool written = transferred(port_request) && data(port_request).op == mem_op_write;
  if (observed(mode)) report_mode(self);
  const bool idle = !some(limit) && !(some(control) | some(load));
  if (idle) {
    self->changed = false;
    if (!written && !loaded) return;
  }
  if (written) write(self, &data(port_request));
  for (int i = 0; i < width(contents); i++)
    if (loaded) store_block(self, &data(contents, i));
  if (idle) return;
  uint32_t levels = 0;
  for (int i = 0; i < width(lines); i++) levels |= data(lines, i) ? (uint32_t)param(line_bits)[i] : 0;
  if (!written && !loaded && is_halted(self) && !self->changed && levels == self->levels && !some(control) &&
      !some(load) && !transferred(save))
    return;
  const fast_phase before = self->phase;
  self->changed = levels != self->levels || transferred(control) || transferred(load) || transferred(save);
  self->levels = levels;
  if (within(timer, 0)) expire(self), self->changed = true;
  if (self->passes && within(passed, 0)) end_step(self), self->changed = true;
  if (transferred(save)) advance(self, data(save).last);
  if (transferred(load)) take(self, data(load));
  if (transferred(control)) obey(self, data(control));
  struct mips_quantum_reply reply = {0};
  self->offered = self->phase == fast_phase_requests && within(passed, 0);
  if (!is_halted(self)) {
    if (transferred(uncached_request)) self->phase = fast_phase_outstanding;
    if (transferred(uncached_reply)) reply = receive(self, data(uncached_reply).error, data(uncached_reply).data);
    self->changed |= transferred(uncached_request) || transferred(uncached_reply);
  }
  if (self->phase == fast_phase_runs && within(passed, 0)) {
    if (self->halting && !self->delayed && !reply.present && !self->fetched)
      halt(self);
    else if (reply.present || self->fetched || !sleeps(self))
      step(self, data(limit), reply);
  }
  self->changed |= self->phase != before;
}

next_event() {
  if (self->changed) return cycle();
  const bool offers = self->phase == fast_phase_requests && !self->offered;
  const bool executes = self->passes || (self->phase == fast_phase_runs && !sleeps(self));
  const uint64_t change = observed(mode) ? until_mode(self) : never();
  const uint64_t next = change < until(timer) ? change : until(timer);
  return unchanged(after((offers || executes) && until(passed) < next ? until(passed) : next));
}

#undef CP0
#undef STATE_WORDS
#undef TIMER_PENDING
#undef LINES_PENDING
