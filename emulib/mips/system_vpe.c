// The MT ASE of the functional system: registers of a virtual processing element and its thread context, and what its
// instructions ask of others; see mt.def and system.h.  What others ask of it is in system_mt.c.
#include "system_code.h"
#include "system_private.h"

#define CP0(name) m->cpu.cp0[MIPS_CP0_##name]

bool mips_system_runs(const struct mips_system *m) {
  return m->options.vpes == 0 || mips_vpe_runs(CP0(VPEConf0), CP0(TCStatus), CP0(TCHalt));
}

bool mips_read_vpe(const struct mips_system *m, enum mips_cp0 n, uint32_t *value) {
  if (n == MIPS_CP0_TCRestart) {
    *value = ~0u; // it executes
    return true;
  }
  if (n != MIPS_CP0_TCStatus) return false;
  *value = mips_tc_status(CP0(TCStatus), CP0(Status), CP0(EntryHi)) | (m->cpu.delayed ? MIPS_TCSTATUS_TDS : 0) |
           (m->cpu.waiting ? MIPS_TCSTATUS_WAITS : 0);
  return true;
}

static void write_tc_status(struct mips_system *m, uint32_t value) {
  const uint32_t entry_hi = mips_entry_hi_of_tc(CP0(EntryHi), value);
  if ((entry_hi ^ CP0(EntryHi)) & MIPS_ENTRYHI_ASID) mips_forget_windows(m);
  CP0(EntryHi) = entry_hi;
  CP0(TCStatus) = value & MIPS_TCSTATUS_OWN;
  mips_write_status(m, mips_status_of_tc(CP0(Status), value));
}

void mips_write_vpe(struct mips_system *m, enum mips_cp0 n, uint32_t value, bool master) {
  const bool ran = mips_system_runs(m);
  if (n == MIPS_CP0_TCRestart || (n == MIPS_CP0_VPEConf0 && !master)) return;
  if (n == MIPS_CP0_TCStatus)
    write_tc_status(m, value);
  else
    m->cpu.cp0[n] = value;
  if (ran && !mips_system_runs(m)) mips_system_stop(m);
}

uint32_t mips_ask_thread(struct mips_system *m, struct mips_thread_request request) {
  const bool master = CP0(VPEConf0) & MIPS_VPECONF0_MVP;
  if (!mips_thread_reaches(request, m->options.vpe, m->options.vpes, master)) return ~0u;
  mips_code_leave(m);
  return m->environment.thread(m->environment.user, m, request);
}

bool mips_raise_thread(struct mips_system *m, enum mips_thread_failure failure) {
  if (failure == MIPS_THREAD_DONE) return false;
  CP0(VPEControl) = mips_vpe_control_failed(CP0(VPEControl), failure);
  mips_raise(m, MIPS_EXCEPTION_THREAD);
  return true;
}
