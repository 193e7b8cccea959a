// The MIPS instruction set as data: what an instruction word is, what it reads and writes, how it is written.
//
// Everything here comes from instructions.def through generate.py.  Plain C, tables in the header, nothing to link, so
// that tools and the modules of a simulator use the same decoder.  Decoding is a lookup in dense tables: the major
// opcode selects a second table (by function field or rt) or an instruction at once, then the fixed bits are compared.
#ifndef EMULIB_MIPS_ISA_H
#define EMULIB_MIPS_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mips_instructions.h" // generated: enum mips_instruction, enum mips_set, the tables

// The instructions of programs: those of every set but the last, which adds what an operating system needs.
#define MIPS_EACH_USER_INSTRUCTION(X)                                                                                  \
  MIPS_ADDED_BY_mips1(X) MIPS_ADDED_BY_mips2(X) MIPS_ADDED_BY_prijoff(X) MIPS_ADDED_BY_mips32(X)                       \
      MIPS_ADDED_BY_mips32r2(X)

// Fields of an instruction word.
static inline unsigned mips_rs(uint32_t word) {
  return word >> 21 & 31;
}
static inline unsigned mips_rt(uint32_t word) {
  return word >> 16 & 31;
}
static inline unsigned mips_rd(uint32_t word) {
  return word >> 11 & 31;
}
static inline unsigned mips_shift(uint32_t word) {
  return word >> 6 & 31;
}
// Size of the field, which begins at bit mips_shift(), that ext takes and ins replaces.
static inline unsigned mips_extracted(uint32_t word) {
  return mips_rd(word) + 1;
}
static inline unsigned mips_inserted(uint32_t word) {
  return mips_rd(word) + 1 > mips_shift(word) ? mips_rd(word) + 1 - mips_shift(word) : 0;
}
static inline uint32_t mips_signed(uint32_t word) {
  return (uint32_t)(int32_t)(int16_t)word;
}
static inline uint32_t mips_unsigned(uint32_t word) {
  return word & 0xffff;
}

// Target of a branch or of j/jal at address pc.
static inline uint32_t mips_branch_target(uint32_t pc, uint32_t word) {
  return pc + 4 + (mips_signed(word) << 2);
}
static inline uint32_t mips_jump_target(uint32_t pc, uint32_t word) {
  return ((pc + 4) & 0xf0000000u) | (word & 0x03ffffff) << 2;
}

// The instruction that a word is in a set, or MIPS_reserved.
static inline enum mips_instruction mips_find(enum mips_set set, uint32_t word) {
  const struct mips_group group = mips_groups[set][word >> 26];
  unsigned found = mips_leaves[group.first + (word >> group.shift & group.mask)];
  while (found != MIPS_reserved && (word & mips_info[found].mask) != mips_info[found].match)
    found = mips_info[found].next[set];
  return (enum mips_instruction)found;
}

// True when the instruction has a delay slot.
static inline bool mips_has_delay_slot(enum mips_instruction i) {
  return mips_info[i].kind == MIPS_CLASS_branch || mips_info[i].kind == MIPS_CLASS_jump;
}

#endif
