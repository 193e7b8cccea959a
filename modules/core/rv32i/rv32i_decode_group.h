// rv32i_decode_group.h: what out-of-order cores want to know of RV32I instructions, as a table made from emulib's
// instruction table; see rv32i_decode_group.lss.
#ifndef RV32I_DECODE_GROUP_H
#define RV32I_DECODE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ooo/issue_queue.h"
#include "rv32i/isa.h"

enum { RV32I_DECODE_WORDS = 8192, RV32I_DECODE_SHIFT = 32 - 13, RV32I_DECODE_RA = 1, RV32I_DECODE_T0 = 5 };

// Spreads words over the table: Knuth's multiplier for 32 bits.
#define RV32I_DECODE_FACTOR 2654435761u

// Words of the instruction table.
enum {
  RV32I_GROUP_ALU_add = alu_op_add,
  RV32I_GROUP_ALU_sub = alu_op_sub,
  RV32I_GROUP_ALU_and = alu_op_and,
  RV32I_GROUP_ALU_or = alu_op_or,
  RV32I_GROUP_ALU_xor = alu_op_xor,
  RV32I_GROUP_ALU_slt = alu_op_slt,
  RV32I_GROUP_ALU_sltu = alu_op_sltu,
  RV32I_GROUP_ALU_sll = alu_op_sll,
  RV32I_GROUP_ALU_srl = alu_op_srl,
  RV32I_GROUP_ALU_sra = alu_op_sra,
  RV32I_GROUP_ALU_second = alu_op_add // to register 0
};
enum { RV32I_GROUP_B_none, RV32I_GROUP_B_rs2 = 0, RV32I_GROUP_B_imm };
enum { RV32I_GROUP_NO_no, RV32I_GROUP_NO_yes }; // of yes and no
enum {
  RV32I_GROUP_IMM_none,
  RV32I_GROUP_IMM_signed,
  RV32I_GROUP_IMM_store,
  RV32I_GROUP_IMM_shift,
  RV32I_GROUP_IMM_upper,
  RV32I_GROUP_IMM_pcupper,
  RV32I_GROUP_IMM_link
};
enum rv32i_group_memory { RV32I_GROUP_MEM_none, RV32I_GROUP_MEM_load, RV32I_GROUP_MEM_store, RV32I_GROUP_MEM_barrier };
enum rv32i_group_branch {
  RV32I_GROUP_BRANCH_never,
  RV32I_GROUP_BRANCH_eq,
  RV32I_GROUP_BRANCH_ne,
  RV32I_GROUP_BRANCH_lt,
  RV32I_GROUP_BRANCH_ge,
  RV32I_GROUP_BRANCH_ltu,
  RV32I_GROUP_BRANCH_geu,
  RV32I_GROUP_BRANCH_jump,
  RV32I_GROUP_BRANCH_register
};

struct rv32i_group_decoding {
  alu_op alu;
  bool immediate; // is the second operand
  uint8_t imm;    // its kind
  enum rv32i_group_memory memory;
  uint8_t size;
  bool sign;
  enum rv32i_group_branch branch;
  trap_cause trap;
  bool reads_rs1, reads_rs2, writes;
};

static const struct rv32i_group_decoding rv32i_group_decodings[RV32I_INSTRUCTIONS] = {
    [RV32I_reserved] = {.trap = trap_cause_reserved},
#define CONTROL(name, reads, writes_, alu_, a, b, imm_, mem, size_, sign_, branch_, trap_, dest)                       \
  [RV32I_##name] = {.alu = RV32I_GROUP_ALU_##alu_,                                                                     \
                    .immediate = RV32I_GROUP_B_##b == RV32I_GROUP_B_imm,                                               \
                    .imm = RV32I_GROUP_IMM_##imm_,                                                                     \
                    .memory = RV32I_GROUP_MEM_##mem,                                                                   \
                    .size = size_,                                                                                     \
                    .sign = RV32I_GROUP_NO_##sign_,                                                                    \
                    .branch = RV32I_GROUP_BRANCH_##branch_,                                                            \
                    .trap = trap_cause_##trap_,                                                                        \
                    .reads_rs1 = ((reads) & RV32I_FIELD_rs1) != 0,                                                     \
                    .reads_rs2 = ((reads) & RV32I_FIELD_rs2) != 0,                                                     \
                    .writes = ((writes_) & RV32I_FIELD_rd) != 0},
#include "rv32i_control.inc"
#undef CONTROL
};

// Words that were decoded before, but for their address, by a hash; nothing but time depends on it.  Empty entries are
// of the word 0, which is decoded anew.
static micro_op rv32i_decoded_words[RV32I_DECODE_WORDS];

static inline branch_kind rv32i_branch_kind(const struct rv32i_group_decoding *d, uint32_t word) {
  const uint32_t rd = rv32i_rd(word), rs1 = rv32i_rs1(word);
  if (d->branch == RV32I_GROUP_BRANCH_never) return branch_kind_none;
  if (d->branch < RV32I_GROUP_BRANCH_jump) return branch_kind_conditional;
  if (rd == RV32I_DECODE_RA || rd == RV32I_DECODE_T0) return branch_kind_call;
  const bool links = rs1 == RV32I_DECODE_RA || rs1 == RV32I_DECODE_T0;
  return links && d->branch == RV32I_GROUP_BRANCH_register ? branch_kind_subroutine_return : branch_kind_jump;
}

static inline operation_class rv32i_operation_class(const struct rv32i_group_decoding *d) {
  if (d->trap != trap_cause_none) return operation_class_none;
  if (d->branch == RV32I_GROUP_BRANCH_jump) return operation_class_jump;
  if (d->branch == RV32I_GROUP_BRANCH_register) return operation_class_indirect;
  if (d->branch != RV32I_GROUP_BRANCH_never) return operation_class_branch;
  switch (d->memory) {
  case RV32I_GROUP_MEM_none: return operation_class_alu;
  case RV32I_GROUP_MEM_load: return operation_class_load;
  case RV32I_GROUP_MEM_store: return operation_class_store;
  default: return operation_class_barrier;
  }
}

// Of branches the distance, of jumps to registers what is added, else the operand.
static inline uint32_t rv32i_word_immediate(const struct rv32i_group_decoding *d, uint32_t word) {
  if (d->branch == RV32I_GROUP_BRANCH_jump) return rv32i_imm_j(word);
  if (d->branch == RV32I_GROUP_BRANCH_register) return rv32i_imm_i(word);
  if (d->branch != RV32I_GROUP_BRANCH_never) return rv32i_imm_b(word);
  switch (d->imm) {
  case RV32I_GROUP_IMM_signed: return rv32i_imm_i(word);
  case RV32I_GROUP_IMM_store: return rv32i_imm_s(word);
  case RV32I_GROUP_IMM_shift: return rv32i_rs2(word);
  case RV32I_GROUP_IMM_upper:
  case RV32I_GROUP_IMM_pcupper: return rv32i_imm_u(word);
  default: return 0;
  }
}

static __attribute__((noinline)) void rv32i_decode_word(micro_op *to, uint32_t word) {
  const struct rv32i_group_decoding *d = &rv32i_group_decodings[rv32i_find(RV32I_SET_rv32i, word)];
  const operation_class kind = rv32i_operation_class(d);
  micro_op op = {.word = word,
                 .immediate = rv32i_word_immediate(d, word),
                 .control = operation_of_kind(kind) | operation_of_trap(d->trap)};
  *to = op;
  if (kind == operation_class_none) return;
  const bool relative =
      d->imm == RV32I_GROUP_IMM_pcupper || kind == operation_class_branch || kind == operation_class_jump;
  op.control |= operation_of_alu(d->alu) | operation_of_immediate(d->immediate) | operation_of_size(d->size) |
                operation_of_sign(d->sign) | operation_of_flow(rv32i_branch_kind(d, word)) |
                operation_of_relative(relative);
  if (kind == operation_class_branch)
    op.control |= operation_of_compare((branch_compare)(d->branch - RV32I_GROUP_BRANCH_eq));
  if (d->reads_rs1) op.source[0] = (uint8_t)rv32i_rs1(word);
  if (d->reads_rs2) op.source[1] = (uint8_t)rv32i_rs2(word);
  if (d->writes) op.dest = (uint8_t)rv32i_rd(word);
  op.needs = needs_of(&op);
  *to = op;
}

#endif
