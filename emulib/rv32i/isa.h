// The RV32I instruction set as data: what an instruction word is, what it reads and writes, how it is written.
//
// Everything here comes from instructions.def through generate.py.  Plain C, tables in the header, nothing to link, so
// that tools and the modules of a simulator use the same decoder.  Decoding is a lookup in dense tables: the opcode
// selects a second table (by funct3) or an instruction at once, then the fixed bits are compared.
#ifndef EMULIB_RV32I_ISA_H
#define EMULIB_RV32I_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv32i_instructions.h" // generated: enum rv32i_instruction, the tables

// Fields of an instruction word.
static inline unsigned rv32i_rd(uint32_t word) {
  return word >> 7 & 31;
}
static inline unsigned rv32i_rs1(uint32_t word) {
  return word >> 15 & 31;
}
static inline unsigned rv32i_rs2(uint32_t word) {
  return word >> 20 & 31;
}

// Immediates, by the format of the instruction.
static inline uint32_t rv32i_imm_i(uint32_t word) {
  return (uint32_t)((int32_t)word >> 20);
}
static inline uint32_t rv32i_imm_s(uint32_t word) {
  return (uint32_t)((int32_t)word >> 25) << 5 | rv32i_rd(word);
}
static inline uint32_t rv32i_imm_b(uint32_t word) {
  return (uint32_t)((int32_t)word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1;
}
static inline uint32_t rv32i_imm_u(uint32_t word) {
  return word & 0xfffff000u;
}
static inline uint32_t rv32i_imm_j(uint32_t word) {
  return (uint32_t)((int32_t)word >> 31) << 20 | (word & 0xff000) | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1;
}

// The instruction that a word is in a set, or RV32I_reserved.
static inline enum rv32i_instruction rv32i_find(enum rv32i_set set, uint32_t word) {
  const struct rv32i_group group = rv32i_groups[set][word >> 2 & 31];
  unsigned found = rv32i_leaves[group.first + (word >> group.shift & group.mask)];
  while (found != RV32I_reserved && (word & rv32i_info[found].mask) != rv32i_info[found].match)
    found = rv32i_info[found].next[set];
  return (enum rv32i_instruction)found;
}

#endif
