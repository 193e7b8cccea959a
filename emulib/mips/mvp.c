// Connects the virtual processing elements of a processor; see mvp.h.
#include "mvp.h"

#include <string.h>

void mips_mvp_init(struct mips_mvp *p, unsigned vpes) {
  memset(p, 0, sizeof *p);
  p->vpes = (uint8_t)vpes;
}

bool mips_mvp_executes(const struct mips_mvp *p, unsigned vpe) {
  return mips_system_runs(p->vpe[vpe]) && ((p->control & MIPS_MVPCONTROL_EVP) || p->alone == vpe);
}

static uint32_t ask_mvp(struct mips_mvp *p, const struct mips_system *m, struct mips_thread_request request) {
  const bool master = m->cpu.cp0[MIPS_CP0_VPEConf0] & MIPS_VPECONF0_MVP;
  const enum mips_cp0 n = mips_cp0_find(true, request.number, request.select);
  const uint32_t read = mips_mvp_read(n, p->control, p->vpes);
  if (n != MIPS_CP0_MVPControl) return read;
  p->control = mips_mvp_control_after(p->control, request, master);
  if (read & ~p->control & MIPS_MVPCONTROL_EVP) p->alone = m->options.vpe;
  return read;
}

uint32_t mips_mvp_thread(struct mips_mvp *p, const struct mips_system *m, struct mips_thread_request request) {
  struct mips_system *target = p->vpe[request.tc];
  const bool executes = mips_mvp_executes(p, request.tc);
  if (request.kind == MIPS_THREAD_CP0 && mips_is_mvp(mips_cp0_find(true, request.number, request.select)))
    return ask_mvp(p, m, request);
  if (request.op == MIPS_THREAD_READ) return mips_system_read_thread(target, request, executes);
  mips_system_write_thread(target, request, executes);
  return 0;
}
