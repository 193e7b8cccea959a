/* rv32i_decode.h: the control words of RV32I, as a table made from emulib's instruction table; see rv32i_decode.lss. */
#ifndef RV32I_DECODE_H
#define RV32I_DECODE_H

#include "core/core_control.h"
#include "core/rv32i/rv32i_alu.h"
#include "rv32i/isa.h"

enum { RV32I_COMPARED = 34 }; /* a register that is forwarded and never written: what less-than gave */

enum {
  RV32I_ALU_add = CORE_ALU_add,
  RV32I_ALU_sub = CORE_ALU_sub,
  RV32I_ALU_and = CORE_ALU_and,
  RV32I_ALU_or = CORE_ALU_or,
  RV32I_ALU_xor = CORE_ALU_xor,
  RV32I_ALU_slt = CORE_ALU_slt,
  RV32I_ALU_sltu = CORE_ALU_sltu,
  RV32I_ALU_sll = CORE_ALU_sll,
  RV32I_ALU_srl = CORE_ALU_srl,
  RV32I_ALU_sra = CORE_ALU_sra,
  RV32I_ALU_second = RV32I_ALU_SECOND
};
enum { RV32I_A_none = CORE_A_zero, RV32I_A_rs1 = CORE_A_rs };
enum { RV32I_B_none = CORE_B_zero, RV32I_B_rs2 = CORE_B_rt, RV32I_B_imm = CORE_B_imm };
enum {
  RV32I_IMM_none,
  RV32I_IMM_signed,
  RV32I_IMM_store,
  RV32I_IMM_shift,
  RV32I_IMM_upper,
  RV32I_IMM_pcupper,
  RV32I_IMM_link
};
enum { RV32I_NO_no, RV32I_NO_yes }; /* of yes and no */
enum { RV32I_DEST_none, RV32I_DEST_rd };
/* A comparison gives 1 for less; the branch behind it tests whether that is greater than zero, or not. */
enum {
  RV32I_BRANCH_never = CORE_BRANCH_never,
  RV32I_BRANCH_eq = CORE_BRANCH_eq,
  RV32I_BRANCH_ne = CORE_BRANCH_ne,
  RV32I_BRANCH_lt = CORE_BRANCH_gtz,
  RV32I_BRANCH_ltu = CORE_BRANCH_gtz,
  RV32I_BRANCH_ge = CORE_BRANCH_lez,
  RV32I_BRANCH_geu = CORE_BRANCH_lez,
  RV32I_BRANCH_jump = CORE_BRANCH_jump,
  RV32I_BRANCH_register = CORE_BRANCH_register
};

struct rv32i_decoding {
  uint64_t
      control;    /* without register numbers that the word gives, and without the branch of one that compares first */
  uint8_t imm;    /* kind of the ALU's immediate */
  uint8_t branch; /* condition, as issue knows it */
  bool compares;  /* less-than: two steps */
  bool reads_rs1, reads_rs2, writes;
};

#define RV32I_PLACE(value, first) ((uint64_t)(value) << (first))
#define RV32I_COMPARES(branch)    ((branch) == CORE_BRANCH_gtz || (branch) == CORE_BRANCH_lez)

static const struct rv32i_decoding rv32i_decodings[RV32I_INSTRUCTIONS] = {
    [RV32I_reserved] = {.control = RV32I_PLACE(CORE_TRAP_reserved, CORE_C_TRAP)},
#define CONTROL(name, reads, writes_, alu, a, b, imm_, mem, size, sign, branch_, trap, dest)                           \
  [RV32I_##name] = {                                                                                                   \
      .control = RV32I_PLACE(RV32I_ALU_##alu, CORE_C_ALU) | RV32I_PLACE(RV32I_A_##a, CORE_C_A) |                       \
                 RV32I_PLACE(RV32I_B_##b, CORE_C_B) | RV32I_PLACE(CORE_MEM_##mem, CORE_C_MEM) |                        \
                 RV32I_PLACE(size, CORE_C_SIZE) | RV32I_PLACE(size ? size - 1 : 0, CORE_C_ALIGN) |                     \
                 RV32I_PLACE(RV32I_NO_##sign, CORE_C_SIGN) |                                                           \
                 RV32I_PLACE(RV32I_COMPARES(RV32I_BRANCH_##branch_) ? CORE_BRANCH_never : RV32I_BRANCH_##branch_,      \
                             CORE_C_BRANCH) |                                                                          \
                 RV32I_PLACE(CORE_TRAP_##trap, CORE_C_TRAP) |                                                          \
                 RV32I_PLACE(CORE_MEM_##mem == CORE_MEM_load, CORE_C_LOADS) |                                          \
                 RV32I_PLACE(CORE_TRAP_##trap != CORE_TRAP_none, CORE_C_UNUSUAL),                                      \
      .imm = RV32I_IMM_##imm_,                                                                                         \
      .branch = RV32I_BRANCH_##branch_,                                                                                \
      .compares = RV32I_COMPARES(RV32I_BRANCH_##branch_),                                                              \
      .reads_rs1 = ((reads) & RV32I_FIELD_rs1) != 0,                                                                   \
      .reads_rs2 = ((reads) & RV32I_FIELD_rs2) != 0,                                                                   \
      .writes = RV32I_DEST_##dest == RV32I_DEST_rd},
#include "rv32i_control.inc"
#undef CONTROL
};

static inline const struct rv32i_decoding *rv32i_decoded(uint32_t word) {
  return &rv32i_decodings[rv32i_find(RV32I_SET_rv32i, word)];
}

static inline uint64_t rv32i_place_registers(uint32_t rs, uint32_t rt, uint32_t dest) {
  return RV32I_PLACE(rs, CORE_C_RS) | RV32I_PLACE(rt, CORE_C_RT) | RV32I_PLACE(dest, CORE_C_DEST);
}

/* The control word of an instruction, or of the first step of one that compares, which counts as no instruction. */
static inline uint64_t rv32i_control_word(const struct rv32i_decoding *d, uint32_t word) {
  const uint32_t dest = d->writes && rv32i_rd(word) != 0 ? rv32i_rd(word) : CORE_NO_DEST;
  return d->control |
         rv32i_place_registers(d->reads_rs1 ? rv32i_rs1(word) : CORE_NO_SOURCE,
                               d->reads_rs2 ? rv32i_rs2(word) : CORE_NO_SOURCE, d->compares ? RV32I_COMPARED : dest) |
         RV32I_PLACE(d->compares, CORE_C_ANNULLED);
}

/* The control word of the second step: the branch. */
static inline uint64_t rv32i_second_step(const struct rv32i_decoding *d) {
  return RV32I_PLACE(d->branch, CORE_C_BRANCH) | rv32i_place_registers(RV32I_COMPARED, CORE_NO_SOURCE, CORE_NO_DEST);
}

/* The ALU's immediate. */
static inline uint32_t rv32i_immediate(const struct rv32i_decoding *d, uint32_t pc, uint32_t word) {
  switch (d->imm) {
  case RV32I_IMM_signed: return rv32i_imm_i(word);
  case RV32I_IMM_store: return rv32i_imm_s(word);
  case RV32I_IMM_shift: return rv32i_rs2(word);
  case RV32I_IMM_upper: return rv32i_imm_u(word);
  case RV32I_IMM_pcupper: return pc + rv32i_imm_u(word);
  case RV32I_IMM_link: return pc + 4;
  default: return 0;
  }
}

/* Where a branch or jump that is taken goes; `base` is the register of a jump to one. */
static inline uint32_t rv32i_target(const struct rv32i_decoding *d, uint32_t pc, uint32_t word, uint32_t base) {
  switch (d->branch) {
  case RV32I_BRANCH_jump: return pc + rv32i_imm_j(word);
  case RV32I_BRANCH_register: return (base + rv32i_imm_i(word)) & ~1u;
  default: return pc + rv32i_imm_b(word);
  }
}

#endif
