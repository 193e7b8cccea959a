// The MT ASE of the functional system: what instructions of other virtual processing elements ask of this one's
// registers; see mt.def and system.h.
#include "system_private.h"

uint32_t mips_system_read_thread(struct mips_system *m, struct mips_thread_request request, bool executes) {
  const enum mips_cp0 n =
      request.kind == MIPS_THREAD_CP0 ? mips_cp0_find(true, request.number, request.select) : MIPS_CP0_NONE;
  if (request.kind == MIPS_THREAD_CP0 && n != MIPS_CP0_TCRestart) return n == MIPS_CP0_NONE ? ~0u : mips_read_cp0(m, n);
  if (executes) return ~0u;
  switch (request.kind) {
  case MIPS_THREAD_GENERAL: return m->cpu.r[request.number];
  case MIPS_THREAD_HI: return m->cpu.hi;
  case MIPS_THREAD_LO: return m->cpu.lo;
  default: return m->cpu.delayed ? m->cpu.pc - 4 : m->cpu.pc;
  }
}

void mips_system_write_thread(struct mips_system *m, struct mips_thread_request request, bool executes) {
  const uint32_t value = request.value;
  const enum mips_cp0 n =
      request.kind == MIPS_THREAD_CP0 ? mips_cp0_find(true, request.number, request.select) : MIPS_CP0_NONE;
  if (request.kind == MIPS_THREAD_CP0 && n != MIPS_CP0_TCRestart) {
    if (n != MIPS_CP0_NONE) mips_write_cp0(m, n, value, true);
    return;
  }
  if (executes) return;
  switch (request.kind) {
  case MIPS_THREAD_GENERAL: m->cpu.r[request.number] = request.number == 0 ? 0 : value; return;
  case MIPS_THREAD_HI: m->cpu.hi = value; return;
  case MIPS_THREAD_LO: m->cpu.lo = value; return;
  default:
    mips_system_start(m, value);
    m->cpu.waiting = m->cpu.linked = false;
    return;
  }
}
