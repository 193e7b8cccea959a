// The registers of coprocessor 0 of the functional system: reset, reads and writes; see cp0.def and system.h.
#include "system_private.h"

#define CP0(name) m->cpu.cp0[MIPS_CP0_##name]

// What cp0.def calls the parameters.
#define TLB_TOP    (m->options.tlb_entries - 1u)
#define BIG_ENDIAN ((uint32_t)m->options.big_endian)
#define USER_LOCAL ((uint32_t)m->options.user_local)
#define PRID       m->options.prid
#define CONFIG1    config1(&m->options)
#define CONFIG4    mips_config4(m->options.tlb_entries)
#define CONFIG7    config7(&m->options)
#define MT         ((uint32_t)(m->options.vpes > 0))
#define VPES       ((uint32_t)m->options.vpes)
#define VPE        ((uint32_t)m->options.vpe)

static uint32_t geometry(struct mips_cache_geometry cache) {
  return mips_cache_config(cache.sets, cache.ways, cache.line);
}

static uint32_t config1(const struct mips_system_options *o) {
  return mips_config1(o->tlb_entries, geometry(o->icache), geometry(o->dcache));
}

static uint32_t config7(const struct mips_system_options *o) {
  return mips_config7((uint32_t)o->icache.sets * o->icache.line, (uint32_t)o->dcache.sets * o->dcache.line);
}

// A register that never changes; 0: there is none.
static uint32_t constant(const struct mips_system *m, unsigned number, unsigned select) {
#define CONSTANT(name, number, select, reset, writable, text)                                                          \
  case (number) << 3 | (select): return reset;
  switch (number << 3 | select) {
    MIPS_EACH_CP0_CONSTANT(CONSTANT)
  default: return 0;
  }
}

static uint32_t writable(const struct mips_system *m, enum mips_cp0 n) {
#define WRITABLE(name, number, select, reset, writable, text) writable,
  const uint32_t masks[MIPS_CP0_KEPT] = {MIPS_EACH_CP0_REGISTER(WRITABLE) MIPS_EACH_VPE_REGISTER(WRITABLE)};
  return masks[n];
}

void mips_reset_cp0(struct mips_system *m) {
#define RESET(name, number, select, reset, writable, text) CP0(name) = reset;
  MIPS_EACH_CP0_REGISTER(RESET)
  if (!MT) return;
  MIPS_EACH_VPE_REGISTER(RESET)
  CP0(EBase) |= VPE;
}

// Count begins anew from its value of now.
static void restart_count(struct mips_system *m) {
  CP0(Count) = mips_count(m);
  m->cpu.count_cycle = m->cpu.cycle;
}

static void write_cause(struct mips_system *m, uint32_t value) {
  restart_count(m);
  CP0(Cause) = value;
  mips_timer_changed(m);
}

static bool is_vpe(enum mips_cp0 n) {
  return n > MIPS_CP0_BEFORE_VPE && n < MIPS_CP0_KEPT;
}

void mips_write_cp0(struct mips_system *m, enum mips_cp0 n, uint32_t value, bool master) {
  if (n == MIPS_CP0_NONE) {
    m->statistics.unimplemented++;
    return;
  }
  const uint32_t mask = writable(m, n), old = m->cpu.cp0[n], new = (old & ~mask) | (value & mask);
  if (is_vpe(n)) {
    mips_write_vpe(m, n, new, master);
    return;
  }
  if (n == MIPS_CP0_Status) {
    mips_write_status(m, new);
    return;
  }
  if (n == MIPS_CP0_Cause) {
    write_cause(m, new);
    return;
  }
  m->cpu.cp0[n] = new;
  switch (n) {
  case MIPS_CP0_PageMask: CP0(PageMask) = mips_page_mask(new); break;
  case MIPS_CP0_Wired: CP0(Random) = TLB_TOP; break;
  case MIPS_CP0_EntryHi:
    if ((old ^ new) & MIPS_ENTRYHI_ASID) mips_forget_windows(m);
    break;
  case MIPS_CP0_Count:
    m->cpu.count_cycle = m->cpu.cycle;
    mips_timer_changed(m);
    break;
  case MIPS_CP0_Compare:
    CP0(Cause) &= ~((uint32_t)MIPS_CAUSE_TI | 1u << (MIPS_CAUSE_IP_SHIFT + 7));
    mips_timer_changed(m);
    break;
  default: break;
  }
}

uint32_t mips_read_cp0(struct mips_system *m, enum mips_cp0 n) {
  uint32_t value;
  if (n == MIPS_CP0_Count) return mips_count(m);
  if (is_vpe(n) && mips_read_vpe(m, n, &value)) return value;
  if (n != MIPS_CP0_NONE) return m->cpu.cp0[n];
  m->statistics.unimplemented++;
  return 0;
}

// Those that VPEs share are asked for elsewhere.
void mips_system_write_cp0(struct mips_system *m, unsigned number, unsigned select, uint32_t value) {
  const enum mips_cp0 n = mips_cp0_find(MT, number, select);
  if (mips_is_mvp(n))
    mips_ask_thread(m, mips_own_register(MIPS_THREAD_WRITE, VPE, number, select, value));
  else if (constant(m, number, select) == 0)
    mips_write_cp0(m, n, value, (CP0(VPEConf0) & MIPS_VPECONF0_MVP) != 0);
}

uint32_t mips_system_read_cp0(struct mips_system *m, unsigned number, unsigned select) {
  const enum mips_cp0 n = mips_cp0_find(MT, number, select);
  if (mips_is_mvp(n)) return mips_ask_thread(m, mips_own_register(MIPS_THREAD_READ, VPE, number, select, 0));
  const uint32_t value = constant(m, number, select);
  return value != 0 ? value : mips_read_cp0(m, n);
}

bool mips_hardware_register(struct mips_system *m, unsigned number, uint32_t *value) {
  enum { CPU_NUMBER, SYNCI_STEP, COUNT, COUNT_DIVIDER, LOCAL = 29 };
  const bool sees = !m->user_mode || (CP0(Status) & MIPS_STATUS_CU0) || (CP0(HWREna) >> number & 1);
  if (sees) switch (number) {
    case CPU_NUMBER: *value = CP0(EBase) & MIPS_EBASE_CPU; return true;
    case SYNCI_STEP: *value = mips_synci_step(m->options.icache.line, m->options.dcache.line); return true;
    case COUNT: *value = mips_count(m); return true;
    case COUNT_DIVIDER: *value = m->options.count_divider; return true;
    case LOCAL:
      *value = CP0(UserLocal);
      if (m->options.user_local) return true;
      break;
    default: break;
    }
  mips_raise(m, MIPS_EXCEPTION_RI);
  return false;
}
