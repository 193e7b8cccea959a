// mips_thread.h: what instructions ask of thread contexts, as modules pass it on and as emulib has it; see
// mips_system_types.lss.
#ifndef MIPS_THREAD_H
#define MIPS_THREAD_H

#include "mips/mt.h"

_Static_assert((int)thread_op_read == MIPS_THREAD_READ && (int)thread_op_write == MIPS_THREAD_WRITE &&
                   (int)thread_op_dvpe == MIPS_THREAD_DVPE && (int)thread_op_evpe == MIPS_THREAD_EVPE,
               "operations have emulib's numbers");
_Static_assert((int)thread_kind_cp0 == MIPS_THREAD_CP0 && (int)thread_kind_general == MIPS_THREAD_GENERAL &&
                   (int)thread_kind_hi == MIPS_THREAD_HI && (int)thread_kind_lo == MIPS_THREAD_LO &&
                   (int)thread_kind_nothing == MIPS_THREAD_NOTHING,
               "kinds of registers have emulib's numbers");

static inline thread_request mips_thread_from(struct mips_thread_request r) {
  return (thread_request){.op = (thread_op)r.op,
                          .tc = r.tc,
                          .kind = (thread_kind)r.kind,
                          .number = r.number,
                          .select = r.select,
                          .value = r.value};
}

static inline struct mips_thread_request mips_thread_to(thread_request r) {
  return (struct mips_thread_request){.op = (uint8_t)r.op,
                                      .tc = r.tc,
                                      .kind = (uint8_t)r.kind,
                                      .number = r.number,
                                      .select = r.select,
                                      .value = r.value};
}

// The register of coprocessor 0 that is meant, or MIPS_CP0_NONE.
static inline enum mips_cp0 mips_thread_cp0(thread_request r) {
  return r.kind == thread_kind_cp0 ? mips_cp0_find(true, r.number, r.select) : MIPS_CP0_NONE;
}

#endif
