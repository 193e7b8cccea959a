// Where the functional system goes on: exceptions, modes, the timer and the interrupts; see system.h.
#include "system_private.h"

#define CP0(name) m->cpu.cp0[MIPS_CP0_##name]

void mips_system_start(struct mips_system *m, uint32_t pc) {
  m->cpu.pc = pc;
  m->cpu.next_pc = pc + 4;
  m->cpu.delayed = false;
}

void mips_system_stop(struct mips_system *m) {
  m->stopping = true;
  m->deadline = 0;
}

void mips_status_changed(struct mips_system *m) {
  const bool user_mode = mips_is_user(CP0(Status));
  m->deadline = 0;
  if (m->user_mode == user_mode) return;
  m->user_mode = user_mode;
  if (m->environment.mode != NULL) m->environment.mode(m->environment.user, user_mode);
}

void mips_write_status(struct mips_system *m, uint32_t value) {
  if ((CP0(Status) ^ value) & MIPS_STATUS_ERL) mips_forget_windows(m);
  CP0(Status) = value;
  mips_status_changed(m);
}

// Where an exception goes, with Status as it was before.
static uint32_t vector(const struct mips_system *m, uint32_t offset) {
  return (CP0(Status) & MIPS_STATUS_BEV ? MIPS_VECTOR_BOOT : CP0(EBase) & ~0xfffu) + offset;
}

static void enter(struct mips_system *m, enum mips_exception code, uint32_t offset) {
  const uint32_t to = vector(m, offset);
  if (!(CP0(Status) & MIPS_STATUS_EXL)) {
    CP0(EPC) = m->in_delay_slot ? m->at - 4 : m->at;
    CP0(Cause) &= ~(uint32_t)MIPS_CAUSE_BD;
    if (m->in_delay_slot) CP0(Cause) |= (uint32_t)MIPS_CAUSE_BD;
  }
  CP0(Cause) = (CP0(Cause) & ~(uint32_t)MIPS_CAUSE_CODE) | (uint32_t)code << 2;
  CP0(Status) |= MIPS_STATUS_EXL;
  mips_system_start(m, to);
  m->exception = (uint8_t)code;
  m->statistics.exceptions[code]++;
  mips_status_changed(m);
}

void mips_raise(struct mips_system *m, enum mips_exception code) {
  m->statistics.failed++;
  enter(m, code, MIPS_VECTOR_GENERAL);
}

void mips_raise_unusable(struct mips_system *m, unsigned unit) {
  CP0(Cause) = (CP0(Cause) & ~(3u << MIPS_CAUSE_CE_SHIFT)) | unit << MIPS_CAUSE_CE_SHIFT;
  mips_raise(m, MIPS_EXCEPTION_CPU);
}

void mips_raise_fault(struct mips_system *m, enum mips_fault fault, uint32_t address, enum mips_access access) {
  const bool store = access == MIPS_STORE;
  CP0(BadVAddr) = address;
  if (fault == MIPS_FAULT_ADDRESS) {
    mips_raise(m, store ? MIPS_EXCEPTION_ADES : MIPS_EXCEPTION_ADEL);
    return;
  }
  CP0(Context) = (CP0(Context) & 0xff800000u) | (address >> 13 << 4);
  CP0(EntryHi) = (address & 0xffffe000u) | (CP0(EntryHi) & MIPS_ENTRYHI_ASID);
  m->statistics.failed++;
  m->statistics.refills += fault == MIPS_FAULT_REFILL;
  const bool refill = fault == MIPS_FAULT_REFILL && !(CP0(Status) & MIPS_STATUS_EXL);
  enter(m,
        fault == MIPS_FAULT_MODIFIED ? MIPS_EXCEPTION_MOD
        : store                      ? MIPS_EXCEPTION_TLBS
                                     : MIPS_EXCEPTION_TLBL,
        refill ? MIPS_VECTOR_REFILL : MIPS_VECTOR_GENERAL);
}

void mips_system_take_interrupt(struct mips_system *m) {
  m->at = m->cpu.pc;
  m->in_delay_slot = m->cpu.delayed;
  m->cpu.waiting = false;
  enter(m, MIPS_EXCEPTION_INT, CP0(Cause) & MIPS_CAUSE_IV ? MIPS_VECTOR_INTERRUPT : MIPS_VECTOR_GENERAL);
}

void mips_exception_return(struct mips_system *m) {
  uint32_t to;
  if (CP0(Status) & MIPS_STATUS_ERL) {
    to = CP0(ErrorEPC);
    CP0(Status) &= ~(uint32_t)MIPS_STATUS_ERL;
    mips_forget_windows(m);
  } else {
    to = CP0(EPC);
    CP0(Status) &= ~(uint32_t)MIPS_STATUS_EXL;
  }
  m->cpu.linked = false;
  m->cpu.pc = to;
  m->cpu.next_pc = to + 4;
  mips_status_changed(m);
}

bool mips_system_enables_interrupts(const struct mips_system *m) {
  const uint32_t modes = CP0(Status) & (MIPS_STATUS_IE | MIPS_STATUS_EXL | MIPS_STATUS_ERL);
  return modes == MIPS_STATUS_IE && !(CP0(TCStatus) & MIPS_TCSTATUS_IXMT);
}

bool mips_system_interrupted(const struct mips_system *m) {
  return (CP0(Cause) & CP0(Status) & MIPS_CAUSE_IP) != 0;
}

static void set_line(struct mips_system *m, unsigned line, bool level) {
  const uint32_t bit = 1u << (MIPS_CAUSE_IP_SHIFT + line);
  CP0(Cause) = level ? CP0(Cause) | bit : CP0(Cause) & ~bit;
  m->deadline = 0;
}

void mips_system_interrupt(struct mips_system *m, unsigned line, bool level) {
  if (line < 2 || line > 7) return;
  set_line(m, line, level);
  if (line == 7) CP0(Cause) = level ? CP0(Cause) | MIPS_CAUSE_TI : CP0(Cause) & ~(uint32_t)MIPS_CAUSE_TI;
}

// Count.

static uint64_t counted(const struct mips_system *m) {
  return CP0(Cause) & MIPS_CAUSE_DC ? 0 : (m->cpu.cycle - m->cpu.count_cycle) / m->options.count_divider;
}

uint32_t mips_count(const struct mips_system *m) {
  return m->following ? m->given.count : CP0(Count) + (uint32_t)counted(m);
}

void mips_timer_changed(struct mips_system *m) {
  const uint64_t done = counted(m);
  uint64_t left = (uint32_t)(CP0(Compare) - (CP0(Count) + (uint32_t)done));
  if (left == 0) left = 1ull << 32; // it is equal now: once round
  m->cpu.timer_cycle = m->following || (CP0(Cause) & MIPS_CAUSE_DC)
                           ? UINT64_MAX
                           : m->cpu.count_cycle + (done + left) * m->options.count_divider;
  m->deadline = 0;
}

void mips_timer_expired(struct mips_system *m) {
  mips_timer_changed(m);
  CP0(Cause) |= MIPS_CAUSE_TI;
  set_line(m, 7, true);
}

uint64_t mips_system_next_event(const struct mips_system *m) {
  return m->cpu.timer_cycle;
}

void mips_system_pass(struct mips_system *m, uint64_t cycles) {
  m->cpu.cycle += cycles;
  m->statistics.idle += cycles;
}

uint64_t mips_system_retired(const struct mips_system *m) {
  return m->cpu.cycle - m->statistics.idle - m->statistics.failed;
}
