// rv32i_decode.h: the control words of RV32I, as a table made from emulib's instruction table; see rv32i_decode.lss.
#ifndef RV32I_DECODE_H
#define RV32I_DECODE_H

#include "core/core_control.h"
#include "core/rv32i/rv32i_alu.h"
#include "rv32i/isa.h"

enum { RV32I_COMPARED = 34 }; // a register that is forwarded and never written: what less-than gave

enum {
  RV32I_ALU_add = alu_op_add,
  RV32I_ALU_sub = alu_op_sub,
  RV32I_ALU_and = alu_op_and,
  RV32I_ALU_or = alu_op_or,
  RV32I_ALU_xor = alu_op_xor,
  RV32I_ALU_slt = alu_op_slt,
  RV32I_ALU_sltu = alu_op_sltu,
  RV32I_ALU_sll = alu_op_sll,
  RV32I_ALU_srl = alu_op_srl,
  RV32I_ALU_sra = alu_op_sra,
  RV32I_ALU_second = RV32I_ALU_SECOND
};
enum { RV32I_A_none = alu_source_zero, RV32I_A_rs1 = alu_source_rs };
enum { RV32I_B_none = alu_source_zero, RV32I_B_rs2 = alu_source_rt, RV32I_B_imm = alu_source_imm };
enum {
  RV32I_IMM_none,
  RV32I_IMM_signed,
  RV32I_IMM_store,
  RV32I_IMM_shift,
  RV32I_IMM_upper,
  RV32I_IMM_pcupper,
  RV32I_IMM_link
};
enum { RV32I_NO_no, RV32I_NO_yes }; // of yes and no
enum { RV32I_DEST_none, RV32I_DEST_rd };
// A comparison gives 1 for less; the branch behind it tests whether that is greater than zero, or not.
enum {
  RV32I_BRANCH_never = branch_condition_never,
  RV32I_BRANCH_eq = branch_condition_eq,
  RV32I_BRANCH_ne = branch_condition_ne,
  RV32I_BRANCH_lt = branch_condition_gtz,
  RV32I_BRANCH_ltu = branch_condition_gtz,
  RV32I_BRANCH_ge = branch_condition_lez,
  RV32I_BRANCH_geu = branch_condition_lez,
  RV32I_BRANCH_jump = branch_condition_jump,
  RV32I_BRANCH_register = branch_condition_register
};

struct rv32i_decoding {
  control_word
      control;    // without register numbers that the word gives, and without the branch of one that compares first
  uint8_t imm;    // kind of the ALU's immediate
  uint8_t branch; // condition, as issue knows it
  bool compares;  // less-than: two steps
  bool reads_rs1, reads_rs2, writes;
};

#define RV32I_COMPARES(branch) ((branch) == branch_condition_gtz || (branch) == branch_condition_lez)

static const struct rv32i_decoding rv32i_decodings[RV32I_INSTRUCTIONS] = {
    [RV32I_reserved] = {.control = control_word_of_trap(trap_cause_reserved)},
#define CONTROL(name, reads, writes_, alu, a, b, imm_, mem, size, sign, branch_, trap, dest)                           \
  [RV32I_##name] = {                                                                                                   \
      .control =                                                                                                       \
          control_word_of_alu(RV32I_ALU_##alu) | control_word_of_a(RV32I_A_##a) | control_word_of_b(RV32I_B_##b) |     \
          control_word_of_mem(memory_access_##mem) | control_word_of_size(size) |                                      \
          control_word_of_align(size ? size - 1 : 0) | control_word_of_sign(RV32I_NO_##sign) |                         \
          control_word_of_branch(RV32I_COMPARES(RV32I_BRANCH_##branch_) ? branch_condition_never                       \
                                                                        : RV32I_BRANCH_##branch_) |                    \
          control_word_of_trap(trap_cause_##trap) | control_word_of_loads(memory_access_##mem == memory_access_load) | \
          control_word_of_unusual(trap_cause_##trap != trap_cause_none),                                               \
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

static inline control_word rv32i_place_registers(uint32_t rs, uint32_t rt, uint32_t dest) {
  return control_word_of_rs(rs) | control_word_of_rt(rt) | control_word_of_dest(dest);
}

// The control word of an instruction, or of the first step of one that compares, which counts as no instruction.
static inline control_word rv32i_control_word(const struct rv32i_decoding *d, uint32_t word) {
  const uint32_t dest = d->writes && rv32i_rd(word) != 0 ? rv32i_rd(word) : CORE_NO_DEST;
  return d->control |
         rv32i_place_registers(d->reads_rs1 ? rv32i_rs1(word) : CORE_NO_SOURCE,
                               d->reads_rs2 ? rv32i_rs2(word) : CORE_NO_SOURCE, d->compares ? RV32I_COMPARED : dest) |
         control_word_of_annulled(d->compares);
}

// The control word of the second step: the branch.
static inline control_word rv32i_second_step(const struct rv32i_decoding *d) {
  return control_word_of_branch(d->branch) | rv32i_place_registers(RV32I_COMPARED, CORE_NO_SOURCE, CORE_NO_DEST);
}

// The ALU's immediate.
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

// Where a branch or jump that is taken goes; `base` is the register of a jump to one.
static inline uint32_t rv32i_target(const struct rv32i_decoding *d, uint32_t pc, uint32_t word, uint32_t base) {
  switch (d->branch) {
  case RV32I_BRANCH_jump: return pc + rv32i_imm_j(word);
  case RV32I_BRANCH_register: return (base + rv32i_imm_i(word)) & ~1u;
  default: return pc + rv32i_imm_b(word);
  }
}

#endif
