// The virtual processing elements (VPEs) of a processor with the MT ASE: what they share, and what they ask of each
// other.
//
// Each VPE is a functional system (system.h), whose options say how many there are and which it is, and whose
// environment has mips_mvp_thread() as `thread`, with this as its user.  The owner runs them; one that does not execute
// (mips_mvp_executes()) lets time pass.  The answer may change with every instruction of another, and when that of a
// VPE itself does, its run ends behind the instruction.
#ifndef EMULIB_MIPS_MVP_H
#define EMULIB_MIPS_MVP_H

#include "system.h"

struct mips_mvp {
  uint32_t control; // MVPControl
  uint8_t vpes;     // 1 to MIPS_VPES_MOST
  uint8_t alone;    // the VPE that has the processor for itself while MVPControl.EVP is 0
  struct mips_system *vpe[MIPS_VPES_MOST];
};

// After reset: VPE 0 alone executes.
void mips_mvp_init(struct mips_mvp *p, unsigned vpes);
bool mips_mvp_executes(const struct mips_mvp *p, unsigned vpe);
// What a VPE asks.
uint32_t mips_mvp_thread(struct mips_mvp *p, const struct mips_system *m, struct mips_thread_request request);

#endif
