// What the MT ASE adds, as far as it follows from arguments alone: fields of its registers, whose register an
// instruction means, what yield does.  Virtual processing elements (VPEs) have one thread context (TC) each, of the
// same number.
#ifndef EMULIB_MIPS_MT_H
#define EMULIB_MIPS_MT_H

#include "cp0.h"
#include "isa.h"

enum {
  MIPS_VPES_MOST = 8,
  MIPS_MVPCONTROL_EVP = 1 << 0,
  MIPS_MVPCONTROL_VPC = 1 << 1,
  MIPS_VPECONTROL_TARGTC = 0xff,
  MIPS_VPECONTROL_TE = 1 << 15,
  MIPS_VPECONTROL_EXCPT_SHIFT = 16,
  MIPS_VPECONTROL_EXCPT = 7 << 16,
  MIPS_VPECONTROL_YSI = 1 << 21,
  MIPS_VPECONF0_VPA = 1 << 0,
  MIPS_VPECONF0_MVP = 1 << 1,
  MIPS_TCSTATUS_TASID = 0xff, // EntryHi.ASID
  MIPS_TCSTATUS_IXMT = 1 << 10,
  MIPS_TCSTATUS_TKSU_SHIFT = 8, // from Status.UM
  MIPS_TCSTATUS_A = 1 << 13,
  MIPS_TCSTATUS_DA = 1 << 15,
  MIPS_TCSTATUS_DT = 1 << 20,
  MIPS_TCSTATUS_TDS = 1 << 21,
  MIPS_TCSTATUS_WAITS = 1 << 23, // RNST: in a wait
  MIPS_TCHALT_H = 1 << 0,
};

// Why a thread instruction fails, as VPEControl.EXCPT says; MIPS_THREAD_DONE: it does not.
enum mips_thread_failure {
  MIPS_THREAD_UNDERFLOW = 0, // yield would leave the VPE without a TC
  MIPS_THREAD_OVERFLOW = 1,  // no TC is free for fork
  MIPS_THREAD_QUALIFIER = 2, // yield names a qualifier that there is not
  MIPS_THREAD_SCHEDULER = 4, // VPEControl.YSI has yield intercepted
  MIPS_THREAD_DONE = 8,
};

// What yield does with this operand, where the TC is the only one of its VPE.
static inline enum mips_thread_failure mips_yield(uint32_t operand, uint32_t vpe_control, uint32_t tc_status) {
  if (operand == 0) return MIPS_THREAD_UNDERFLOW;
  if (!(operand >> 31)) return MIPS_THREAD_QUALIFIER;
  const bool intercepted = (vpe_control & MIPS_VPECONTROL_YSI) && (tc_status & MIPS_TCSTATUS_DT);
  return operand != (uint32_t)-2 && intercepted ? MIPS_THREAD_SCHEDULER : MIPS_THREAD_DONE;
}

// VPEControl behind a failure.
static inline uint32_t mips_vpe_control_failed(uint32_t vpe_control, enum mips_thread_failure failure) {
  return (vpe_control & ~(uint32_t)MIPS_VPECONTROL_EXCPT) | (uint32_t)failure << MIPS_VPECONTROL_EXCPT_SHIFT;
}

// TCStatus and what it shares with Status and EntryHi: bits of its own are those that are in none of them.
static inline uint32_t mips_tc_status(uint32_t own, uint32_t status, uint32_t entry_hi) {
  return own | (status & MIPS_STATUS_CU0) | (status & MIPS_STATUS_UM) << MIPS_TCSTATUS_TKSU_SHIFT |
         (entry_hi & MIPS_ENTRYHI_ASID);
}
#define MIPS_TCSTATUS_OWN ((uint32_t)(MIPS_TCSTATUS_IXMT | MIPS_TCSTATUS_A | MIPS_TCSTATUS_DA | MIPS_TCSTATUS_DT))
static inline uint32_t mips_status_of_tc(uint32_t status, uint32_t tc_status) {
  const uint32_t shared = MIPS_STATUS_CU0 | MIPS_STATUS_UM;
  return (status & ~shared) | (tc_status & MIPS_STATUS_CU0) | (tc_status >> MIPS_TCSTATUS_TKSU_SHIFT & MIPS_STATUS_UM);
}
static inline uint32_t mips_entry_hi_of_tc(uint32_t entry_hi, uint32_t tc_status) {
  return (entry_hi & ~(uint32_t)MIPS_ENTRYHI_ASID) | (tc_status & MIPS_TCSTATUS_TASID);
}

// Whether a VPE executes while no other has the processor for itself.
static inline bool mips_vpe_runs(uint32_t vpe_conf0, uint32_t tc_status, uint32_t tc_halt) {
  return (vpe_conf0 & MIPS_VPECONF0_VPA) && (tc_status & MIPS_TCSTATUS_A) && !(tc_halt & MIPS_TCHALT_H);
}

// What an instruction wants of a thread context.
enum mips_thread_op { MIPS_THREAD_READ, MIPS_THREAD_WRITE, MIPS_THREAD_DVPE, MIPS_THREAD_EVPE };
enum mips_thread_kind { MIPS_THREAD_CP0, MIPS_THREAD_GENERAL, MIPS_THREAD_HI, MIPS_THREAD_LO, MIPS_THREAD_NOTHING };
struct mips_thread_request {
  uint8_t op;             // enum mips_thread_op; the last two mean MVPControl
  uint8_t tc;             // which
  uint8_t kind;           // enum mips_thread_kind: which register
  uint8_t number, select; // of it, as far as the kind has them
  uint32_t value;         // to be written
};

// The register that mftr names in its field rt, mttr in rd; there are neither accumulators nor other coprocessors, nor
// high halves.
static inline struct mips_thread_request mips_thread_register(uint32_t word, unsigned field) {
  struct mips_thread_request r = {.kind = MIPS_THREAD_NOTHING, .number = (uint8_t)field, .select = word & 7};
  const bool general = word >> 5 & 1, high = word >> 4 & 1;
  if (high) return r;
  if (!general)
    r.kind = MIPS_THREAD_CP0;
  else if (r.select == 0)
    r.kind = MIPS_THREAD_GENERAL;
  else if (r.select == 1 && field <= 1)
    r.kind = field == 0 ? MIPS_THREAD_LO : MIPS_THREAD_HI;
  return r;
}

// One of coprocessor 0, of the VPE that asks or shared.
static inline struct mips_thread_request mips_own_register(enum mips_thread_op op, uint32_t vpe, unsigned number,
                                                           unsigned select, uint32_t value) {
  return (struct mips_thread_request){
      .op = (uint8_t)op, .tc = (uint8_t)vpe, .number = (uint8_t)number, .select = (uint8_t)select, .value = value};
}

// What an instruction of the set mips32r2_mt, or a move to or from coprocessor 0, asks of who connects the VPEs; false:
// nothing.  `value` is the operand of one that moves to a register.
static inline bool mips_thread_request_of(uint32_t word, uint32_t vpe, uint32_t vpe_control, uint32_t value,
                                          struct mips_thread_request *r) {
  switch (mips_find(MIPS_SET_mips32r2_mt, word)) {
  case MIPS_mftr: *r = mips_thread_register(word, mips_rt(word)); break;
  case MIPS_mttr:
    *r = mips_thread_register(word, mips_rd(word));
    r->op = MIPS_THREAD_WRITE;
    r->value = value;
    break;
  case MIPS_mfc0:
    if (!mips_is_mvp(mips_cp0_find(true, mips_rd(word), word & 7))) return false;
    *r = mips_own_register(MIPS_THREAD_READ, vpe, mips_rd(word), word & 7, 0);
    return true;
  case MIPS_mtc0:
    if (!mips_is_mt(mips_cp0_find(true, mips_rd(word), word & 7))) return false;
    *r = mips_own_register(MIPS_THREAD_WRITE, vpe, mips_rd(word), word & 7, value);
    return true;
  case MIPS_dvpe: *r = mips_own_register(MIPS_THREAD_DVPE, vpe, 0, 1, 0); return true;
  case MIPS_evpe: *r = mips_own_register(MIPS_THREAD_EVPE, vpe, 0, 1, 0); return true;
  default: return false;
  }
  r->tc = vpe_control & MIPS_VPECONTROL_TARGTC;
  return true;
}

// Whether an instruction of this VPE can reach the register; else it reads all ones and writes nothing.
static inline bool mips_thread_reaches(struct mips_thread_request r, uint32_t vpe, uint32_t vpes, bool master) {
  if (r.kind == MIPS_THREAD_NOTHING || r.tc >= vpes) return false;
  return r.tc == vpe || master;
}

// MVPControl behind a request of a VPE that is a master or not.
static inline uint32_t mips_mvp_control_after(uint32_t control, struct mips_thread_request r, bool master) {
  const uint32_t mask = MIPS_MVPCONTROL_EVP | MIPS_MVPCONTROL_VPC;
  if (!master) return control;
  if (r.op == MIPS_THREAD_DVPE) return control & ~(uint32_t)MIPS_MVPCONTROL_EVP;
  if (r.op == MIPS_THREAD_EVPE) return control | MIPS_MVPCONTROL_EVP;
  return r.op == MIPS_THREAD_WRITE ? (control & ~mask) | (r.value & mask) : control;
}

// What the three registers of the processor read, of which the first is kept.
static inline uint32_t mips_mvp_read(enum mips_cp0 n, uint32_t control, uint32_t vpes) {
#define VPES vpes
#define MIPS_MVP_RESET(name, number, select, reset, writable, text)                                                    \
  case MIPS_CP0_##name: return reset;
  if (n == MIPS_CP0_MVPControl) return control;
  switch (n) {
    MIPS_EACH_MVP_REGISTER(MIPS_MVP_RESET)
  default: return 0;
  }
#undef MIPS_MVP_RESET
#undef VPES
}

#endif
