// mips_system.c: coprocessor 0, exceptions, interrupts, modes, the timer; see mips_system.lss.
#include "core/mips/mips_system.h"
#include "core/mips/mips_thread.h"

// What cp0.def calls the parameters.
#define TLB_TOP    ((uint32_t)param(tlb_entries) - 1)
#define BIG_ENDIAN ((uint32_t)param(big_endian))
#define USER_LOCAL ((uint32_t)param(user_local))
#define PRID       ((uint32_t)param(prid))
#define MT         ((uint32_t)(param(vpes) > 0))
#define HALTS      (width(stopped) > 0)
#define HALTED     (HALTS && data(stopped))
#define VPE        (MT ? (uint32_t)self->vpe[0] : 0u)
#define CACHE_CONFIG(side)                                                                                             \
  mips_cache_config((uint32_t)param(side##_sets), (uint32_t)param(side##_ways), (uint32_t)param(side##_line))
#define WAY(side) ((uint32_t)param(side##_sets) * (uint32_t)param(side##_line))
#define CONFIG1   mips_config1((uint32_t)param(tlb_entries), CACHE_CONFIG(icache), CACHE_CONFIG(dcache))
#define CONFIG4   mips_config4((uint32_t)param(tlb_entries))
#define CONFIG7   mips_config7(WAY(icache), WAY(dcache))

// A register that the MT ASE adds.
#define VPE_REGISTER(n)   self->vpe_register[(n) - MIPS_CP0_REGISTERS]
#define VPE_CP0(name)     VPE_REGISTER(MIPS_CP0_##name)
#define INSTRUCTION(word) mips_find(MT ? MIPS_SET_mips32r2_mt : MIPS_SET_mips32r2_system, word)
#define REQUESTED         (MT && self->requested[0])
#define UNLINKS           (MT && self->unlinks[0])
#define REPLIED           (MT && self->replied[0])
#define RETRIES           (MT && self->retries[0])

#define TIMER_PENDING ((uint32_t)MIPS_CAUSE_TI | 1u << (MIPS_CAUSE_IP_SHIFT + 7))
#define LINES_PENDING (0x1fu << (MIPS_CAUSE_IP_SHIFT + 2))
#define ONCE_ROUND    (UINT64_C(1) << 32) // counts
#define LONGEST_WAIT  (UINT64_C(1) << 62) // cycles

// Modes, interrupts.

static inline bool is_user(const self_t *self) {
  return mips_is_user(self->Status);
}

// Whether coprocessor 0 may be used.
static inline bool privileged(const self_t *self) {
  return !is_user(self) || (self->Status & MIPS_STATUS_CU0);
}

// Cause as it reads.
static inline uint32_t cause(const self_t *self) {
  return within(timer, 0) ? self->Cause | TIMER_PENDING : self->Cause;
}

// Interrupts that are pending and that Status.IM lets through: what ends a wait.
static inline uint32_t interrupts(const self_t *self) {
  return cause(self) & self->Status & MIPS_CAUSE_IP;
}

static inline bool enables_interrupts(const self_t *self) {
  if (MT && (VPE_CP0(TCStatus) & MIPS_TCSTATUS_IXMT)) return false;
  return (self->Status & (MIPS_STATUS_IE | MIPS_STATUS_EXL | MIPS_STATUS_ERL)) == MIPS_STATUS_IE;
}

static inline bool takes_interrupt(const self_t *self) {
  return __builtin_expect(self->interruptible | within(timer, 0), false) && enables_interrupts(self) &&
         interrupts(self) != 0;
}

// All that fetch and translation use of these registers.
static inline address_context context_of(uint32_t status, uint32_t entry_hi, uint32_t config) {
  return (address_context){.asid = (uint8_t)(entry_hi & MIPS_ENTRYHI_ASID),
                           .kernel = !mips_is_user(status),
                           .erl = (status & MIPS_STATUS_ERL) != 0,
                           .k0 = config & 7};
}

// Updates what is derived from registers that have changed.
static __attribute__((noinline)) void update_derived(self_t *self, bool changed) {
  self->interruptible = enables_interrupts(self) && (self->Cause & self->Status & MIPS_CAUSE_IP) != 0;
  self->context = context_of(self->Status, self->EntryHi, self->Config);
  self->changed = changed;
  self->derived_from = self->Status ^ self->Cause;
  self->unusual = changed | self->waiting | self->interruptible | self->stopped | UNLINKS;
}

// The timer.  Count is as many less than Compare as it has to go until it is equal.

static inline uint64_t counts_to_go(const self_t *self) {
  const uint64_t divider = (uint64_t)param(count_divider);
  return (until(timer) + divider - 1) / divider;
}

static inline uint32_t count_now(const self_t *self) {
  return self->Cause & MIPS_CAUSE_DC ? self->Count : self->Compare - (uint32_t)counts_to_go(self);
}

// Count has so many to go, of which the first takes `first` cycles; none are once round.
static inline void set_timer(self_t *self, uint32_t counts, uint64_t first) {
  const uint64_t left = counts == 0 ? ONCE_ROUND : counts;
  set_until(timer, first + (left - 1) * (uint64_t)param(count_divider));
}

// Count goes on from its stored value, which it has from this cycle on.
static void start_count(self_t *self) {
  if (self->Cause & MIPS_CAUSE_DC)
    set_until(timer, never());
  else
    set_timer(self, self->Compare - self->Count, (uint64_t)param(count_divider));
}

static void write_compare(self_t *self, uint32_t value) {
  self->Cause &= ~TIMER_PENDING;
  if (!(self->Cause & MIPS_CAUSE_DC)) {
    const uint64_t first = until(timer) - (counts_to_go(self) - 1) * (uint64_t)param(count_divider);
    set_timer(self, value - count_now(self), first);
  }
  self->Compare = value;
}

static void expire(self_t *self) {
  self->Cause |= TIMER_PENDING;
  set_timer(self, 0, (uint64_t)param(count_divider));
  update_derived(self, self->changed);
}

// Registers.

init() {
#define RESET(name, number, select, reset, writable, text)     self->name = reset;
#define VPE_RESET(name, number, select, reset, writable, text) VPE_CP0(name) = reset;
  MIPS_EACH_CP0_REGISTER(RESET)
  if (MT) {
    if (param(vpe_number) >= param(vpes))
      sim_input_error("vpe_number %lld does not exist: the processor has %d VPEs", (long long)param(vpe_number),
                      (int)param(vpes));
    self->vpe[0] = (uint8_t)param(vpe_number);
    _Static_assert(!MT || MIPS_CP0_KEPT - MIPS_CP0_REGISTERS == param(vpe_registers), "each has a place");
    MIPS_EACH_VPE_REGISTER(VPE_RESET)
  }
  self->EBase |= (uint32_t)param(cpu_number);
  self->random = MIPS_RANDOM_RESET;
  start_count(self);
  update_derived(self, false);
}

// One that the MT ASE adds; TCRestart is known elsewhere, and only while this VPE does not execute.
static __attribute__((unused)) uint32_t read_vpe_register(const self_t *self, enum mips_cp0 n) {
  if (n == MIPS_CP0_TCRestart) return ~0u;
  if (n != MIPS_CP0_TCStatus) return n < MIPS_CP0_KEPT ? VPE_REGISTER(n) : 0;
  return mips_tc_status(VPE_CP0(TCStatus), self->Status, self->EntryHi) | (self->waiting ? MIPS_TCSTATUS_WAITS : 0);
}

static uint32_t read_register(const self_t *self, enum mips_cp0 n) {
#define READ(name, number, select, reset, writable, text)                                                              \
  case MIPS_CP0_##name: return self->name;
  if (n == MIPS_CP0_Count) return count_now(self);
  if (n == MIPS_CP0_Cause) return cause(self);
  switch (n) {
    MIPS_EACH_CP0_REGISTER(READ)
  default: return MT ? read_vpe_register(self, n) : 0;
  }
}

// One that never changes; 0: there is none.
static uint32_t constant_register(uint32_t number, uint32_t select) {
#define CONSTANT(name, number, select, reset, writable, text)                                                          \
  case (number) << 3 | (select): return reset;
  switch (number << 3 | select) {
    MIPS_EACH_CP0_CONSTANT(CONSTANT)
  default: return 0;
  }
}

// What mfc0 reads.
static uint32_t read_named(const self_t *self, uint32_t word) {
  const uint32_t value = constant_register(mips_rd(word), word & 7);
  return value != 0 ? value : read_register(self, mips_cp0_find(MT, mips_rd(word), word & 7));
}

// The value of a register after a write.
static uint32_t value_after(const self_t *self, enum mips_cp0 n, uint32_t value) {
#define WRITTEN(name, number, select, reset, writable, text)                                                           \
  case MIPS_CP0_##name: return (self->name & ~(uint32_t)(writable)) | (value & (uint32_t)(writable));
  switch (n) {
    MIPS_EACH_CP0_REGISTER(WRITTEN)
  default: return 0;
  }
}

static void store_register(self_t *self, enum mips_cp0 n, uint32_t value) {
#define WRITE(name, number, select, reset, writable, text)                                                             \
  case MIPS_CP0_##name: self->name = value_after(self, n, value); return;
  switch (n) {
    MIPS_EACH_CP0_REGISTER(WRITE)
  default: return;
  }
}

static void write_register(self_t *self, enum mips_cp0 n, uint32_t value) {
  const uint32_t counted = count_now(self), before = self->Cause;
  if (n == MIPS_CP0_Compare) {
    write_compare(self, value);
    return;
  }
  store_register(self, n, value);
  switch (n) {
  case MIPS_CP0_PageMask: self->PageMask = mips_page_mask(self->PageMask); break;
  case MIPS_CP0_Wired: self->Random = TLB_TOP; break;
  case MIPS_CP0_Count: start_count(self); break;
  case MIPS_CP0_Cause:
    if ((self->Cause ^ before) & MIPS_CAUSE_DC) {
      self->Count = counted;
      start_count(self);
    }
    break;
  default: break;
  }
}

// One that the MT ASE adds, by an instruction of a master or another.
static __attribute__((unused)) void write_vpe_register(self_t *self, enum mips_cp0 n, uint32_t value, bool master) {
#define VPE_WRITABLE(name, number, select, reset, writable, text)                                                      \
  case MIPS_CP0_##name: mask = writable; break;
  uint32_t mask = 0;
  switch (n) {
    MIPS_EACH_VPE_REGISTER(VPE_WRITABLE)
  default: return;
  }
  if (n == MIPS_CP0_VPEConf0 && !master) return;
  if (n == MIPS_CP0_TCRestart) {
    self->unlinks[0] = true;
  } else if (n == MIPS_CP0_TCStatus) {
    self->Status = mips_status_of_tc(self->Status, value);
    self->EntryHi = mips_entry_hi_of_tc(self->EntryHi, value);
    VPE_CP0(TCStatus) = value & MIPS_TCSTATUS_OWN;
  } else {
    VPE_REGISTER(n) = (VPE_REGISTER(n) & ~mask) | (value & mask);
  }
}

// What rdhwr reads, if it is there and this mode sees it.
static bool read_hardware_register(const self_t *self, uint32_t number, uint32_t *value) {
  if (!privileged(self) && !(self->HWREna >> number & 1)) return false;
  switch (number) {
  case MIPS_HWR_CPU: *value = self->EBase & MIPS_EBASE_CPU; return true;
  case MIPS_HWR_SYNCI_STEP:
    *value = mips_synci_step((uint32_t)param(icache_line), (uint32_t)param(dcache_line));
    return true;
  case MIPS_HWR_COUNT: *value = count_now(self); return true;
  case MIPS_HWR_COUNT_DIVIDER: *value = (uint32_t)param(count_divider); return true;
  case MIPS_HWR_USER_LOCAL: *value = self->UserLocal; return param(user_local);
  default: return false;
  }
}

// The instruction in the memory stage.

phase_start() {
  for (int i = 0; i < width(waits); i++) send(waits, i, self->waiting);
  for (int i = 0; i < width(context); i++) send(context, i, self->context);
  for (int i = 0; i < width(interrupt); i++) send(interrupt, i, takes_interrupt(self) && !REQUESTED);
  if (MT) {
    const vpe_state state = {
        .runs = mips_vpe_runs(VPE_CP0(VPEConf0), VPE_CP0(TCStatus), VPE_CP0(TCHalt)),
        .master = (VPE_CP0(VPEConf0) & MIPS_VPECONF0_MVP) != 0,
    };
    for (int i = 0; i < width(vpe); i++) send(vpe, i, state);
  }
}

// A synci writes the line back, which is done in the memory stage and goes no further, and then invalidates the
// instructions.
static core_executed synchronize(const self_t *self, core_executed item) {
  item.control = mips_maintaining(item.control) | control_word_of_annulled(!self->written_back);
  item.b = self->written_back ? cache_operation_of_side(cache_side_instructions) | cache_operation_of_invalidate(true)
                              : cache_operation_of_side(cache_side_data) | cache_operation_of_write_back(true);
  return item;
}

// Why an instruction on threads fails.
static enum mips_thread_failure thread_failure(const self_t *self, core_executed in) {
  if (!MT || control_word_trap(in.control) != trap_cause_system) return MIPS_THREAD_DONE;
  switch (INSTRUCTION(in.word)) {
  case MIPS_fork: return MIPS_THREAD_OVERFLOW;
  case MIPS_yield: return mips_yield(in.result, VPE_CP0(VPEControl), VPE_CP0(TCStatus));
  default: return MIPS_THREAD_DONE;
  }
}

// What an instruction asks of a thread context; false: nothing.
static __attribute__((unused)) bool thread_requested(const self_t *self, core_executed in, thread_request *request) {
  struct mips_thread_request r;
  if (control_word_trap(in.control) != trap_cause_system || !privileged(self)) return false;
  if (!mips_thread_request_of(in.word, VPE, VPE_CP0(VPEControl), in.b, &r)) return false;
  *request = mips_thread_from(r);
  return true;
}

// What an instruction of the system is to the stages behind; false: it fails.
static __attribute__((noinline)) bool execute(const self_t *self, core_executed *item) {
  const uint32_t word = item->word;
  if (!privileged(self) && mips_is_privileged(word)) return false;
  if (thread_failure(self, *item) != MIPS_THREAD_DONE) return false;
  item->control = control_word_set_trap(item->control, trap_cause_none);
  if (REPLIED) {
    item->result = self->reply[0];
    return true;
  }
  switch (INSTRUCTION(word)) {
  case MIPS_mfc0: item->result = read_named(self, word); return true;
  case MIPS_dmt:
  case MIPS_emt: item->result = MT ? VPE_CP0(VPEControl) : 0; return true;
  case MIPS_yield: item->result = 0; return true;
  case MIPS_rdhwr: return read_hardware_register(self, mips_rd(word), &item->result);
  case MIPS_di:
  case MIPS_ei: item->result = self->Status; return true;
  case MIPS_rdpgpr:
  case MIPS_wrpgpr: item->result = item->b; return true;
  case MIPS_cache:
    item->control = mips_maintaining(item->control);
    item->b = call(maintenance, word);
    return true;
  case MIPS_synci: *item = synchronize(self, *item); return true;
  default: return true;
  }
}

// What an instruction does to the TLB; false: nothing.
static __attribute__((noinline)) bool tlb_operation(const self_t *self, uint32_t word, tlb_request *request) {
  const tlb_entry entry = {.mask = self->PageMask, .hi = self->EntryHi, .lo0 = self->EntryLo0, .lo1 = self->EntryLo1};
  *request = (tlb_request){.index = self->Index & TLB_TOP, .entry = entry};
  switch (INSTRUCTION(word)) {
  case MIPS_tlbp: request->op = tlb_op_probe; return true;
  case MIPS_tlbr: request->op = tlb_op_read; return true;
  case MIPS_tlbwi: request->op = tlb_op_write; return true;
  case MIPS_tlbwr:
    request->op = tlb_op_write;
    request->index = self->Random;
    return true;
  default: return false;
  }
}

// Whether the instruction stays until what it requested is done.
static inline bool waits_for_reply(mips_system_outcome outcome) {
  return MT && outcome == mips_system_outcome_requests;
}

// Whether the memory stage has the instruction, or a part of it.
static inline bool is_passed_on(mips_system_outcome outcome) {
  return outcome >= mips_system_outcome_passes && !waits_for_reply(outcome);
}

handler(look) {
  if (!some(in)) {
    set(outcome, mips_system_outcome_none);
    send_nothing(out);
    send_nothing(operate_request);
    send_nothing(threads_request);
    return;
  }
  const control_word c = item(in).control;
  if (takes_interrupt(self) && !data(standing) && !control_word_annulled(c) && !core_changes_hilo(c) && !REQUESTED) {
    set(outcome, mips_system_outcome_interrupt);
    send_nothing(out);
    send_nothing(operate_request);
    send_nothing(threads_request);
    return;
  }
  if (__builtin_expect(control_word_trap(c) < trap_cause_syscall, true)) {
    set(outcome, mips_system_outcome_passes);
    send(out, item(in));
    send_nothing(operate_request);
    send_nothing(threads_request);
    return;
  }
  thread_request request = {0};
  if (MT && !REPLIED && (REQUESTED || thread_requested(self, item(in), &request))) {
    set(outcome, RETRIES ? mips_system_outcome_retry : mips_system_outcome_requests);
    send_nothing(out);
    send_nothing(operate_request);
    send_if(threads_request, !REQUESTED, request);
    return;
  }
  send_nothing(threads_request);
  core_executed item = item(in);
  mips_system_outcome outcome = mips_system_outcome_passes;
  if (control_word_trap(c) != trap_cause_system || !execute(self, &item))
    outcome = mips_system_outcome_exception;
  else if (control_word_annulled(item.control))
    outcome = mips_system_outcome_comes_again;
  tlb_request operation;
  const bool operates = tlb_operation(self, item.word, &operation) && outcome == mips_system_outcome_passes;
  set(outcome, outcome);
  send_if(out, is_passed_on(outcome), item);
  send_if(operate_request, operates, operation);
}

static struct mips_failure failure_of(const self_t *self, core_executed in, core_fault fault) {
  if (!fault.fails) {
    const enum mips_thread_failure thread = thread_failure(self, in);
    if (thread == MIPS_THREAD_DONE) return mips_failure_of(in, privileged(self));
    return (struct mips_failure){.code = MIPS_EXCEPTION_THREAD, .thread = thread};
  }
  const memory_access access = control_word_mem(in.control);
  const bool stores = access == memory_access_store || access == memory_access_conditional;
  return mips_failure_of_fault(fault.fault, stores ? MIPS_REFERENCE_STORE : MIPS_REFERENCE_LOAD, fault.address);
}

// Where an exception goes.
static uint32_t vector(const self_t *self, bool refill, bool interrupt) {
  const uint32_t base = self->Status & MIPS_STATUS_BEV ? MIPS_VECTOR_BOOT : self->EBase & ~0xfffu;
  if (interrupt && (self->Cause & MIPS_CAUSE_IV)) return base + MIPS_VECTOR_INTERRUPT;
  return base + (refill && !(self->Status & MIPS_STATUS_EXL) ? MIPS_VECTOR_REFILL : MIPS_VECTOR_GENERAL);
}

static inline bool is_system(core_executed in, enum mips_instruction instruction) {
  return control_word_trap(in.control) == trap_cause_system && INSTRUCTION(in.word) == instruction;
}

// Where a VPE goes on whose instruction is put off: in a delay slot with the branch, as behind an exception.
static inline uint32_t retried(core_executed in) {
  return control_word_slot(in.control) ? in.pc - 4 : in.pc;
}

// Whether the instructions after one that serializes stay in flight: it changes nothing that they were fetched or
// translated with.  Whatever else they read of these registers they read when they execute alone, after it.
static bool keeps_younger(const self_t *self, core_executed in) {
  if (!param(keep_younger) || !control_word_keeps(in.control) || REPLIED) return false;
  if (!is_system(in, MIPS_mtc0)) return true;
  const enum mips_cp0 n = mips_cp0_find(MT, mips_rd(in.word), in.word & 7);
  const uint32_t value = value_after(self, n, in.b);
  const address_context after =
      context_of(n == MIPS_CP0_Status ? value : self->Status, n == MIPS_CP0_EntryHi ? value : self->EntryHi,
                 n == MIPS_CP0_Config ? value : self->Config);
  return memcmp(&after, &self->context, sizeof after) == 0; // there is nothing between its members
}

// Where fetch continues behind an instruction that serializes and leaves in this cycle.
static core_restart restart_behind(const self_t *self, core_executed in) {
  core_restart restart = {.in_flight = 1};
  if (is_system(in, MIPS_eret))
    restart.pc = self->Status & MIPS_STATUS_ERL ? self->ErrorEPC : self->EPC;
  else if (is_system(in, MIPS_wait) && interrupts(self) == 0)
    restart = (core_restart){.pc = in.pc + 4, .hold = true, .in_flight = 1};
  else
    restart.refetch = true;
  return restart;
}

handler(decide) {
  const mips_system_outcome outcome = get(outcome);
  core_restart restart = {.refetch = true}; // where a wait held it
  bool kills = false, restarts = __builtin_expect(self->unusual, false) && self->waiting && interrupts(self) != 0,
       unlinks = __builtin_expect(self->unusual, false) && (self->stopped || UNLINKS);
  if (outcome != mips_system_outcome_none && !waits_for_reply(outcome)) {
    const control_word c = data(in).control;
    const bool fails = is_passed_on(outcome) && some(fault) && data(fault).fails;
    if (MT && outcome == mips_system_outcome_retry) {
      restart = (core_restart){.pc = retried(data(in))};
      kills = restarts = true;
    } else if (__builtin_expect(!is_passed_on(outcome) || (fails && acked(out)), false)) {
      const bool interrupt = outcome == mips_system_outcome_interrupt;
      const bool refill = !interrupt && failure_of(self, data(in), fails ? data(fault) : (core_fault){0}).refill;
      restart = (core_restart){.pc = vector(self, refill, interrupt)};
      kills = restarts = true;
    } else if (__builtin_expect(control_word_serializes(c), false) && acked(out) && !control_word_annulled(c) &&
               outcome == mips_system_outcome_passes) {
      restart = restart_behind(self, data(in));
      unlinks |= is_system(data(in), MIPS_eret);
      kills = restarts = !keeps_younger(self, data(in));
    }
  }
  for (int i = 0; i < width(kill); i++) send(kill, i, kills);
  for (int i = 0; i < width(restart); i++) send_if(restart, i, restarts, restart);
  for (int i = 0; i < width(unlink); i++) send(unlink, i, unlinks);
}

handler(accept) {
  bool done = !is_passed_on(get(outcome)) || acked(out);
  if (waits_for_reply(get(outcome))) done = false;
  if (__builtin_expect(get(outcome) == mips_system_outcome_comes_again, false))
    done &= some(fault) && data(fault).fails;
  accept(in, done);
}

handler(commit) {
  const bool committed = !some(in) || enabled(in);
  enable(out, committed);
  for (int i = 0; i < width(kill); i++) enable(kill, i, committed);
  for (int i = 0; i < width(restart); i++) enable(restart, i, committed);
  for (int i = 0; i < width(unlink); i++) enable(unlink, i, committed);
}

handler(reply_remotely) {
  for (int i = 0; i < width(remote_request); i++) {
    const thread_request r = data(remote_request, i);
    send_if(remote_reply, i, some(remote_request, i),
            ((thread_reply){.value = read_register(self, mips_cp0_find(MT, r.number, r.select))}));
  }
}

handler(commit_reply) {
  for (int i = 0; i < width(remote_request); i++) enable(remote_reply, i, enabled(remote_request, i));
}

handler(commit_thread) {
  for (int i = 0; i < width(threads_request); i++) enable(threads_request, i, !some(in) || enabled(in));
}

handler(commit_operation) {
  enable(operate_request, (!some(in) || enabled(in)) && acked(out));
}

// The end of a cycle.

// Status.EXL and where the exception came from.
static void enter(self_t *self, enum mips_exception code, core_executed in) {
  if (!(self->Status & MIPS_STATUS_EXL)) {
    const bool slot = control_word_slot(in.control);
    self->EPC = slot ? in.pc - 4 : in.pc;
    self->Cause = (self->Cause & ~(uint32_t)MIPS_CAUSE_BD) | (slot ? (uint32_t)MIPS_CAUSE_BD : 0);
  }
  self->Cause = (self->Cause & ~(uint32_t)MIPS_CAUSE_CODE) | (uint32_t)code << 2;
  self->Status |= MIPS_STATUS_EXL;
  count(exceptions[code]);
}

static void take_interrupt(self_t *self, core_executed in) {
  const uint32_t level = mips_logarithm(interrupts(self) >> MIPS_CAUSE_IP_SHIFT);
  enter(self, MIPS_EXCEPTION_INT, in);
  event(interrupt, level, in.pc);
}

static void fail(self_t *self, core_executed in, struct mips_failure failure) {
  if (failure.addressed) self->BadVAddr = failure.address;
  if (failure.translated) {
    self->Context = (self->Context & 0xff800000u) | (failure.address >> 13 << 4);
    self->EntryHi = (failure.address & 0xffffe000u) | (self->EntryHi & MIPS_ENTRYHI_ASID);
  }
  if (failure.code == MIPS_EXCEPTION_CPU)
    self->Cause = (self->Cause & ~(3u << MIPS_CAUSE_CE_SHIFT)) | failure.unit << MIPS_CAUSE_CE_SHIFT;
  if (MT && failure.code == MIPS_EXCEPTION_THREAD)
    VPE_CP0(VPEControl) = mips_vpe_control_failed(VPE_CP0(VPEControl), (enum mips_thread_failure)failure.thread);
  if (failure.refill) count(refills);
  enter(self, failure.code, in);
  event(exception, failure.code, in.pc, self->EPC, self->BadVAddr, in.word);
}

static void keep_entry(self_t *self, tlb_entry entry) {
  self->PageMask = entry.mask;
  self->EntryHi = entry.hi;
  self->EntryLo0 = entry.lo0;
  self->EntryLo1 = entry.lo1;
}

static void step_random(self_t *self) {
  self->random = mips_random_after(self->random);
  self->Random = self->Wired + self->random % ((uint32_t)param(tlb_entries) - self->Wired);
}

static void wait_for_interrupt(self_t *self) {
  if (interrupts(self) != 0) return;
  self->waiting = true;
  set_until(wait_limit, LONGEST_WAIT);
}

// An instruction of the system leaves.
static void complete(self_t *self, core_executed in, tlb_reply reply) {
  const enum mips_cp0 n = mips_cp0_find(MT, mips_rd(in.word), in.word & 7);
  const bool absent = n == MIPS_CP0_NONE && constant_register(mips_rd(in.word), in.word & 7) == 0;
  switch (INSTRUCTION(in.word)) {
  case MIPS_mfc0:
    if (absent) count(unimplemented);
    return;
  case MIPS_mtc0:
    if (REPLIED) return;
    if (absent) count(unimplemented);
    write_register(self, n, in.b);
    return;
  case MIPS_dmt:
    if (MT) VPE_CP0(VPEControl) &= ~(uint32_t)MIPS_VPECONTROL_TE;
    return;
  case MIPS_emt:
    if (MT) VPE_CP0(VPEControl) |= MIPS_VPECONTROL_TE;
    return;
  case MIPS_di: self->Status &= ~(uint32_t)MIPS_STATUS_IE; return;
  case MIPS_ei: self->Status |= MIPS_STATUS_IE; return;
  case MIPS_tlbp: self->Index = reply.index >> 31 ? self->Index | reply.index : reply.index; return;
  case MIPS_tlbr: keep_entry(self, reply.entry); return;
  case MIPS_tlbwr: step_random(self); return;
  case MIPS_wait: wait_for_interrupt(self); return;
  case MIPS_eret:
    self->Status &= ~(uint32_t)(self->Status & MIPS_STATUS_ERL ? MIPS_STATUS_ERL : MIPS_STATUS_EXL);
    return;
  default: return;
  }
}

// What Status and a wait of the cycle before have made of this one.
static void follow_mode(self_t *self, bool halted) {
  const mips_mode mode = halted          ? mips_mode_halted
                         : self->waiting ? mips_mode_idle
                         : is_user(self) ? mips_mode_user
                                         : mips_mode_kernel;
  const bool was_user = self->mode == mips_mode_user;
  if (mode == self->mode) return;
  count_cycles(spent[self->mode], false);
  count_cycles(spent[mode], true);
  self->mode = mode;
  if (was_user != (mode == mips_mode_user)) event(mode, !was_user);
}

static void wake(self_t *self) {
  self->waiting = false;
  event(waited, LONGEST_WAIT - until(wait_limit));
  set_until(wait_limit, 0);
}

// What few cycles have to see to; true: outputs may change, because a wait is over or registers were written from
// outside.
static __attribute__((noinline)) bool see_to(self_t *self, bool halted) {
  if (self->changed) follow_mode(self, halted);
  const bool woken = self->waiting && interrupts(self) != 0;
  if (woken) wake(self);
  if (within(timer, 0)) expire(self);
  return woken || (self->Status ^ self->Cause) != self->derived_from;
}

// The words of the state, for others.

static uint32_t read_word(const self_t *self, uint32_t number) {
  const uint64_t left = self->stopped ? self->timer_left : until(timer) == never() ? UINT64_MAX : until(timer);
  switch (number) {
  case MIPS_WORD_TIMER: return (uint32_t)left;
  case MIPS_WORD_TIMER_HIGH: return (uint32_t)(left >> 32);
  case MIPS_WORD_RANDOM: return self->random;
  case MIPS_WORD_WAITING: return self->waiting;
  case MIPS_WORD_CP0 + MIPS_CP0_Count: return self->Cause & MIPS_CAUSE_DC ? self->Count : 0;
  default: return read_register(self, (enum mips_cp0)(number - MIPS_WORD_CP0));
  }
}

static void stop(self_t *self) {
  self->timer_left = until(timer) == never() ? UINT64_MAX : until(timer);
  self->stopped = true;
  set_until(timer, never());
}

static void go_on(self_t *self) {
  set_until(timer, self->timer_left > never() ? never() : self->timer_left);
  self->stopped = false;
}

static void write_word(self_t *self, uint32_t number, uint32_t value) {
#define LOAD(name, number, select, reset, writable, text)                                                              \
  case MIPS_WORD_CP0 + MIPS_CP0_##name: self->name = value; return;
  switch (number) {
  case MIPS_WORD_TIMER: self->timer_left = (self->timer_left & ~UINT64_C(0xffffffff)) | value; return;
  case MIPS_WORD_TIMER_HIGH: self->timer_left = (uint64_t)value << 32 | (uint32_t)self->timer_left; return;
  case MIPS_WORD_RANDOM: self->random = (uint16_t)value; return;
  case MIPS_WORD_WAITING:
    if (self->waiting) wake(self); // its wait is executed again, if it has one
    return;
    MIPS_EACH_CP0_REGISTER(LOAD)
  default: return;
  }
}

// A word is read or written.
static __attribute__((noinline, unused)) void access_word(self_t *self, mem_request_32 request) {
  const uint32_t number = request.address / 4;
  if (number == MIPS_WORD_TIMER && !self->stopped) stop(self);
  if (request.op == mem_op_write) write_word(self, number, (uint32_t)request.data);
  if (number == MIPS_WORD_CP0 + MIPS_CP0_REGISTERS - 1 && self->stopped) go_on(self);
}

handler(serve) {
  for (int i = 0; i < width(words_request); i++) {
    const bool present = some(words_request, i);
    mem_reply_32 reply = {0};
    if (__builtin_expect(present, false)) {
      reply.tag = data(words_request, i).tag;
      if (data(words_request, i).op == mem_op_read) reply.data = read_word(self, data(words_request, i).address / 4);
    }
    send_if(words_reply, i, present, reply);
  }
}

handler(commit_words) {
  for (int i = 0; i < width(words_request); i++) enable(words_reply, i, enabled(words_request, i));
}

// What instructions of any VPE ask; true: something here changed.
static __attribute__((noinline, unused)) bool write_remotely(self_t *self, thread_request r) {
  const enum mips_cp0 n = mips_cp0_find(MT, r.number, r.select);
  if (r.op != thread_op_write) return false;
  if (n == MIPS_CP0_NONE)
    count(unimplemented);
  else if (n >= MIPS_CP0_REGISTERS)
    write_vpe_register(self, n, r.value, r.master);
  else
    write_register(self, n, r.value);
  if (!r.own) event(written, r.number, r.select, r.value);
  return true;
}

static inline void count_instructions(self_t *self, uint32_t n) {
  if (self->mode == mips_mode_user)
    count(user_instructions, n);
  else
    count(kernel_instructions, n);
}

phase_end() {
  const mips_system_outcome outcome = get(outcome);
  bool changed = false;
  if (HALTS && __builtin_expect(HALTED != (self->mode == mips_mode_halted), false)) follow_mode(self, HALTED);
  const bool written = (self->Status ^ self->Cause) != self->derived_from;
  if (width(completed) > 0) {
    count_instructions(self, data(completed));
    self->counting = data(completed) != 0;
  }
  if (__builtin_expect(self->unusual | written | within(timer, 0), false)) changed = see_to(self, HALTED);
  if (transferred(in)) {
    const bool fails = is_passed_on(outcome) && some(fault) && data(fault).fails;
    if (!is_passed_on(outcome)) event(cut_off);
    if (outcome == mips_system_outcome_interrupt) {
      take_interrupt(self, data(in));
      changed = true;
    } else if (MT && outcome == mips_system_outcome_retry) {
      changed = true; // nothing of it was done
    } else if (__builtin_expect(outcome == mips_system_outcome_exception || fails, false)) {
      fail(self, data(in), failure_of(self, data(in), fails ? data(fault) : (core_fault){0}));
      changed = true;
    } else if (!control_word_annulled(data(in).control)) {
      if (width(completed) == 0) count_instructions(self, 1);
      if (__builtin_expect(control_word_trap(data(in).control) == trap_cause_system, false)) {
        complete(self, data(in), data(operate_reply));
        if (MT) event(passed, data(in).pc);
        changed = true;
      }
    }
    self->written_back = false;
    if (MT) self->requested[0] = self->replied[0] = self->retries[0] = false;
  } else if (__builtin_expect(transferred(out), false)) {
    self->written_back = changed = true;
    event(again);
  }
  if (width(words_request) && __builtin_expect(transferred(words_request), false)) {
    access_word(self, data(words_request));
    changed = true;
  }
  if (MT) {
    changed |= UNLINKS;
    self->unlinks[0] = false;
    if (transferred(threads_request)) self->requested[0] = changed = true;
    if (transferred(threads_reply)) {
      self->reply[0] = data(threads_reply).value;
      self->retries[0] = data(threads_reply).retry;
      self->replied[0] = !self->retries[0];
      changed = true;
    }
    if (transferred(in) && outcome == mips_system_outcome_retry && control_word_slot(data(in).control)) {
      const uint32_t restart = retried(data(in));
      event(written, 2, 3, restart);
      self->unlinks[0] = true;
    }
    if (transferred(remote_request)) changed |= write_remotely(self, data(remote_request));
  }
  uint32_t levels = 0;
  for (int i = 0; i < width(lines); i++) levels |= data(lines, i) ? (uint32_t)param(line_bits)[i] : 0;
  if (__builtin_expect((self->Cause & LINES_PENDING) != levels, false)) {
    self->Cause = (self->Cause & ~LINES_PENDING) | levels;
    changed = true;
  }
  if (__builtin_expect(changed | self->changed, false)) update_derived(self, changed);
}

statistics() {
  uint64_t cycles[4];
  for (int k = 0; k < 4; k++) cycles[k] = counted(spent[k]) + (self->mode == (mips_mode)k ? cycle() : 0);
  counted(kernel_cycles) = cycles[mips_mode_kernel];
  counted(user_cycles) = cycles[mips_mode_user];
  counted(idle_cycles) = cycles[mips_mode_idle];
  counted(halted_cycles) = cycles[mips_mode_halted];
}

next_event() {
  return self->changed || self->counting ? cycle() : unchanged(after(until(timer)));
}
