/* The registers of coprocessor 0 by name, from cp0.def, and the fields that have a meaning to hardware. */
#ifndef EMULIB_MIPS_CP0_H
#define EMULIB_MIPS_CP0_H

#include <stdint.h>

enum mips_cp0 {
#define CP0_REGISTER(name, number, select, reset, writable, text) MIPS_CP0_##name,
#include "mips/cp0.def"
#undef CP0_REGISTER
  MIPS_CP0_REGISTERS
};

enum {
  MIPS_STATUS_IE = 1 << 0,
  MIPS_STATUS_EXL = 1 << 1,
  MIPS_STATUS_ERL = 1 << 2,
  MIPS_STATUS_UM = 1 << 4,
  MIPS_STATUS_BEV = 1 << 22,
  MIPS_STATUS_CU0 = 1 << 28,
  MIPS_CAUSE_CODE = 31 << 2, /* which exception it was */
  MIPS_CAUSE_IP = 0xff << 8, /* interrupts that wait; those that Status enables have the same place there */
  MIPS_CAUSE_IP_SHIFT = 8,
  MIPS_CAUSE_IV = 1 << 23,
  MIPS_CAUSE_DC = 1 << 27,
  MIPS_CAUSE_CE_SHIFT = 28,
  MIPS_CAUSE_TI = 1 << 30,
  MIPS_INDEX_MISS = (int32_t)0x80000000,
  MIPS_CAUSE_BD = (int32_t)0x80000000, /* EPC is the branch before it */
  MIPS_ENTRYLO_G = 1 << 0,
  MIPS_ENTRYLO_V = 1 << 1,
  MIPS_ENTRYLO_D = 1 << 2,
  MIPS_ENTRYLO_C_SHIFT = 3,
  MIPS_ENTRYLO_PFN_SHIFT = 6,
  MIPS_ENTRYHI_ASID = 0xff,
};

/* What Cause.ExcCode says. */
enum mips_exception {
  MIPS_EXCEPTION_INT = 0,
  MIPS_EXCEPTION_MOD = 1,  /* store to a page that is not dirty */
  MIPS_EXCEPTION_TLBL = 2, /* no entry, or an invalid one, for a load or fetch */
  MIPS_EXCEPTION_TLBS = 3, /* the same for a store */
  MIPS_EXCEPTION_ADEL = 4, /* misaligned, or not for this mode */
  MIPS_EXCEPTION_ADES = 5,
  MIPS_EXCEPTION_IBE = 6, /* nothing responds */
  MIPS_EXCEPTION_DBE = 7,
  MIPS_EXCEPTION_SYS = 8,
  MIPS_EXCEPTION_BP = 9,
  MIPS_EXCEPTION_RI = 10,
  MIPS_EXCEPTION_CPU = 11,
  MIPS_EXCEPTION_OV = 12,
  MIPS_EXCEPTION_TR = 13,
};

/* Vectors: offsets from EBase, or from MIPS_VECTOR_BOOT while Status.BEV is 1. */
enum {
  MIPS_VECTOR_REFILL = 0x000,
  MIPS_VECTOR_GENERAL = 0x180,
  MIPS_VECTOR_INTERRUPT = 0x200, /* with Cause.IV */
};
#define MIPS_VECTOR_BOOT  0xbfc00200u
#define MIPS_VECTOR_RESET 0xbfc00000u

#endif
