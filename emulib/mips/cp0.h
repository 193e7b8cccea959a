// The registers of coprocessor 0 by name, from cp0.def and mt.def, the fields that have a meaning to hardware, and
// functions of nothing but their arguments.
#ifndef EMULIB_MIPS_CP0_H
#define EMULIB_MIPS_CP0_H

#include <stdbool.h>
#include <stdint.h>

#include "mips/cp0.def"
#include "mips/mt.def"

// Those of every processor; those that a VPE adds; those that VPEs share.
#define MIPS_CP0_NAME(name, number, select, reset, writable, text) MIPS_CP0_##name,
enum mips_cp0 {
  MIPS_EACH_CP0_REGISTER(MIPS_CP0_NAME) MIPS_CP0_REGISTERS,
  MIPS_CP0_BEFORE_VPE = MIPS_CP0_REGISTERS - 1,
  MIPS_EACH_VPE_REGISTER(MIPS_CP0_NAME) MIPS_CP0_KEPT, // of which each processor has its own
  MIPS_CP0_BEFORE_MVP = MIPS_CP0_KEPT - 1,
  MIPS_EACH_MVP_REGISTER(MIPS_CP0_NAME) MIPS_CP0_NONE, // there is no such register
};
#undef MIPS_CP0_NAME

enum {
  MIPS_STATUS_IE = 1 << 0,
  MIPS_STATUS_EXL = 1 << 1,
  MIPS_STATUS_ERL = 1 << 2,
  MIPS_STATUS_UM = 1 << 4,
  MIPS_STATUS_BEV = 1 << 22,
  MIPS_STATUS_CU0 = 1 << 28,
  MIPS_CAUSE_CODE = 31 << 2, // which exception it was
  MIPS_CAUSE_IP = 0xff << 8, // interrupts that wait; those that Status enables have the same place there
  MIPS_CAUSE_IP_SHIFT = 8,
  MIPS_CAUSE_IV = 1 << 23,
  MIPS_CAUSE_DC = 1 << 27,
  MIPS_CAUSE_CE_SHIFT = 28,
  MIPS_CAUSE_TI = 1 << 30,
  MIPS_INDEX_MISS = (int32_t)0x80000000,
  MIPS_CAUSE_BD = (int32_t)0x80000000, // EPC is the branch before it
  MIPS_ENTRYLO_G = 1 << 0,
  MIPS_ENTRYLO_V = 1 << 1,
  MIPS_ENTRYLO_D = 1 << 2,
  MIPS_ENTRYLO_C_SHIFT = 3,
  MIPS_ENTRYLO_PFN_SHIFT = 6,
  MIPS_ENTRYHI_ASID = 0xff,
  MIPS_CONFIG4_MMU_SIZE_EXT = 1 << 14, // MMUExtDef: bits 7 to 0 are MMUSizeExt
  MIPS_CONFIG7_IAR = 1 << 10,
  MIPS_CONFIG7_AR = 1 << 16,
};

// What Cause.ExcCode says.
enum mips_exception {
  MIPS_EXCEPTION_INT = 0,
  MIPS_EXCEPTION_MOD = 1,  // store to a page that is not dirty
  MIPS_EXCEPTION_TLBL = 2, // no entry, or an invalid one, for a load or fetch
  MIPS_EXCEPTION_TLBS = 3, // the same for a store
  MIPS_EXCEPTION_ADEL = 4, // misaligned, or not for this mode
  MIPS_EXCEPTION_ADES = 5,
  MIPS_EXCEPTION_IBE = 6, // nothing responds
  MIPS_EXCEPTION_DBE = 7,
  MIPS_EXCEPTION_SYS = 8,
  MIPS_EXCEPTION_BP = 9,
  MIPS_EXCEPTION_RI = 10,
  MIPS_EXCEPTION_CPU = 11,
  MIPS_EXCEPTION_OV = 12,
  MIPS_EXCEPTION_TR = 13,
  MIPS_EXCEPTION_THREAD = 25, // MT: fork or yield, as VPEControl.EXCPT says
};

// The part of EBase that shows the number of the processor.
#define MIPS_EBASE_CPU 0x3ffu

// Vectors: offsets from EBase, or from MIPS_VECTOR_BOOT while Status.BEV is 1.
enum {
  MIPS_VECTOR_REFILL = 0x000,
  MIPS_VECTOR_GENERAL = 0x180,
  MIPS_VECTOR_INTERRUPT = 0x200, // with Cause.IV
};
#define MIPS_VECTOR_BOOT  0xbfc00200u
#define MIPS_VECTOR_RESET 0xbfc00000u

// What a program can see of a processor between two instructions, the second of which is in no delay slot, as words, in
// the order in which they are passed on.  Links are not part of it: a store-conditional behind fails, as after an
// exception.
enum mips_word {
  MIPS_WORD_REGISTERS = 0, // 32 of them
  MIPS_WORD_HI = 32,
  MIPS_WORD_LO,
  MIPS_WORD_PC,         // of the next instruction
  MIPS_WORD_TIMER,      // cycles until Count becomes equal to Compare, all ones: it stands still; the low half
  MIPS_WORD_TIMER_HIGH, // and the high one
  MIPS_WORD_RANDOM,     // the shift register behind Random
  MIPS_WORD_WAITING,    // 1: behind a wait, so the next is executed once an interrupt is pending
  MIPS_WORD_CP0,        // the registers, in the order of cp0.def; Count is 0 unless it stands still
  MIPS_WORD_TLB = MIPS_WORD_CP0 + MIPS_CP0_REGISTERS, // four of each entry: PageMask, EntryHi, EntryLo0, EntryLo1
};

// How many there are.
static inline uint32_t mips_words(uint32_t tlb_entries) {
  return MIPS_WORD_TLB + 4 * tlb_entries;
}

// The register of a number and selection, with those of the MT ASE or without, or MIPS_CP0_NONE.
static inline enum mips_cp0 mips_cp0_find(bool mt, unsigned number, unsigned select) {
#define MIPS_CP0_CASE(name, number, select, reset, writable, text)                                                     \
  case (number) << 3 | (select): return MIPS_CP0_##name;
  switch (number << 3 | select) {
    MIPS_EACH_CP0_REGISTER(MIPS_CP0_CASE)
  default: break;
  }
  if (mt) switch (number << 3 | select) {
      MIPS_EACH_VPE_REGISTER(MIPS_CP0_CASE)
      MIPS_EACH_MVP_REGISTER(MIPS_CP0_CASE)
    default: break;
    }
#undef MIPS_CP0_CASE
  return MIPS_CP0_NONE;
}

// Whether Status means user mode.
static inline bool mips_is_user(uint32_t status) {
  return (status & (MIPS_STATUS_UM | MIPS_STATUS_EXL | MIPS_STATUS_ERL)) == MIPS_STATUS_UM;
}

// Whether a register is one that VPEs share.
static inline bool mips_is_mvp(enum mips_cp0 n) {
  return n > MIPS_CP0_BEFORE_MVP && n < MIPS_CP0_NONE;
}

// Whether a register is one that the MT ASE adds.
static inline bool mips_is_mt(enum mips_cp0 n) {
  return n > MIPS_CP0_BEFORE_VPE && n < MIPS_CP0_NONE;
}

// Of a power of two.
static inline uint32_t mips_logarithm(uint32_t n) {
  return n <= 1 ? 0 : 31u - (uint32_t)__builtin_clz(n);
}

// Sets, size of a line and ways of a cache as Config1 has them, 9 bits.
static inline uint32_t mips_cache_config(uint32_t sets, uint32_t ways, uint32_t line) {
  return mips_logarithm(sets / 64u) << 6 | (mips_logarithm(line) - 1) << 3 | (ways - 1u);
}

static inline uint32_t mips_config1(uint32_t tlb_entries, uint32_t icache, uint32_t dcache) {
  return 1u << 31 | ((tlb_entries - 1u) & 63) << 25 | icache << 16 | dcache << 7;
}

// What rdhwr reads as the step of synci: one covers a line of both caches.
static inline uint32_t mips_synci_step(uint32_t icache_line, uint32_t dcache_line) {
  return icache_line < dcache_line ? icache_line : dcache_line;
}

// Config4: what Config1 cannot show of the number of TLB entries, with MMUExtDef.
static inline uint32_t mips_config4(uint32_t tlb_entries) {
  const uint32_t more = (tlb_entries - 1u) >> 6;
  return more > 0 ? MIPS_CONFIG4_MMU_SIZE_EXT | more : 0;
}

// Config7 of a processor whose caches have ways of these numbers of bytes.  Software expects that an address has
// several places in a way that exceeds a page, unless AR (data) or IAR (instructions) is set: our caches are indexed by
// the physical address.
static inline uint32_t mips_config7(uint32_t icache_way, uint32_t dcache_way) {
  enum { PAGE = 4096 };
  return (dcache_way > PAGE ? MIPS_CONFIG7_AR : 0u) | (icache_way > PAGE ? MIPS_CONFIG7_IAR : 0u);
}

// What PageMask keeps of a value.  Pages are 4^n * 4 KiB: pairs of ones from bit 13 on.
static inline uint32_t mips_page_mask(uint32_t value) {
  const uint32_t ones = value >> 13;
  const bool pattern = (ones & (ones + 1)) == 0 && mips_logarithm(ones + 1) % 2 == 0;
  return pattern ? value : 0;
}

// The shift register behind Random, which begins as MIPS_RANDOM_RESET, after a tlbwr.
#define MIPS_RANDOM_RESET 0xace1u
static inline uint16_t mips_random_after(uint16_t x) {
  return (uint16_t)(x >> 1 ^ (x & 1 ? 0xb400 : 0));
}

#endif
