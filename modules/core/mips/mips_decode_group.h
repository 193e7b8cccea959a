// mips_decode_group.h: what out-of-order cores want to know of MIPS instructions, made of the control words that
// mips_decode has for pipelines; see mips_decode_group.lss.
#ifndef MIPS_DECODE_GROUP_H
#define MIPS_DECODE_GROUP_H

#include "core/mips/mips_decode.h"
#include "core/ooo/issue_queue.h"

enum { MIPS_GROUP_WORDS = 8192, MIPS_GROUP_SHIFT = 32 - 13, MIPS_GROUP_PARTS = 3 };

// Registers of programs beside the general ones, and one between the operations of an instruction.
enum { MIPS_GROUP_RA = 31, MIPS_GROUP_HI = 32, MIPS_GROUP_LO, MIPS_GROUP_TEMPORARY };

// Spreads words over the table: Knuth's multiplier for 32 bits.
#define MIPS_GROUP_FACTOR 2654435761u

// Words that were decoded before, but for their address, by a hash; nothing but time depends on it.
struct mips_group_entry {
  micro_op first;
  uint8_t count; // operations; 0: nothing is here
};
static struct mips_group_entry mips_group_entries[MIPS_SETS][MIPS_GROUP_WORDS];

// Register numbers that name none read as register 0.
static inline uint8_t mips_group_source(control_word c, alu_source from) {
  const uint32_t number = from == alu_source_rs   ? control_word_rs(c)
                          : from == alu_source_rt ? control_word_rt(c)
                                                  : CORE_NO_SOURCE;
  return number == CORE_NO_SOURCE ? 0 : (uint8_t)number;
}

static inline uint8_t mips_group_dest(control_word c) {
  return control_word_dest(c) == CORE_NO_DEST ? 0 : (uint8_t)control_word_dest(c);
}

// An operation of the ALU, which may trap, or a conditional move.
static inline void mips_group_arithmetic(micro_op *op, control_word c) {
  const bool traps = control_word_trap(c) != trap_cause_none;
  op->dest = mips_group_dest(c);
  if (op->dest == 0 && !traps) return;
  if (control_word_move(c) != move_condition_none) {
    const bool zero = control_word_move(c) == move_condition_zero;
    op->control =
        operation_of_kind(operation_class_select) | operation_of_compare(zero ? branch_compare_eq : branch_compare_ne);
    op->source[0] = mips_group_source(c, alu_source_rs);
    op->source[1] = mips_group_source(c, alu_source_rt);
    op->source[2] = op->dest;
    return;
  }
  op->control = operation_of_kind(operation_class_alu) | operation_of_alu(control_word_alu(c)) |
                operation_of_immediate(control_word_b(c) == alu_source_imm) | operation_of_trap(control_word_trap(c));
  op->source[0] = mips_group_source(c, control_word_a(c));
  op->source[1] = mips_group_source(c, control_word_b(c));
}

// Branches compare two registers: those on one compare it with register 0, on one side or the other.
static inline void mips_group_branch(micro_op *op, control_word c) {
  static const struct {
    branch_compare compare;
    bool zero_first;
  } compares[] = {
      [branch_condition_eq] = {branch_compare_eq, false},  [branch_condition_ne] = {branch_compare_ne, false},
      [branch_condition_lez] = {branch_compare_ge, true},  [branch_condition_gtz] = {branch_compare_lt, true},
      [branch_condition_ltz] = {branch_compare_lt, false}, [branch_condition_gez] = {branch_compare_ge, false}};
  const uint8_t rs = mips_group_source(c, alu_source_rs), rt = mips_group_source(c, alu_source_rt);
  const bool zero_first = compares[control_word_branch(c)].zero_first;
  const bool always = control_word_branch(c) == branch_condition_eq && rs == rt;
  op->source[0] = zero_first ? 0 : rs;
  op->source[1] = zero_first ? rs : rt;
  op->immediate += 4;
  op->control = operation_of_kind(operation_class_branch) | operation_of_relative(true) |
                operation_of_compare(compares[control_word_branch(c)].compare) |
                operation_of_flow(always ? branch_kind_jump : branch_kind_conditional) |
                operation_of_likely(control_word_likely(c));
}

// Branches and jumps; the result is the return address.
static inline void mips_group_flow(micro_op *op, control_word c) {
  const uint8_t rs = mips_group_source(c, alu_source_rs);
  op->dest = mips_group_dest(c);
  const branch_kind jumps = op->dest == MIPS_GROUP_RA ? branch_kind_call : branch_kind_jump;
  switch (control_word_branch(c)) {
  case branch_condition_jump: op->control = operation_of_kind(operation_class_jump) | operation_of_flow(jumps); return;
  case branch_condition_indexed:
  case branch_condition_register:
    op->source[0] = rs;
    op->control = operation_of_kind(operation_class_indirect) |
                  operation_of_flow(rs == MIPS_GROUP_RA && op->dest == 0 ? branch_kind_subroutine_return : jumps);
    return;
  default: mips_group_branch(op, c);
  }
}

static inline void mips_group_memory(micro_op *op, control_word c) {
  static const operation_class kinds[] = {[memory_access_load] = operation_class_load,
                                          [memory_access_store] = operation_class_store,
                                          [memory_access_linked] = operation_class_linked,
                                          [memory_access_conditional] = operation_class_conditional,
                                          [memory_access_barrier] = operation_class_barrier};
  op->control = operation_of_kind(kinds[control_word_mem(c)]) | operation_of_size(control_word_size(c)) |
                operation_of_sign(control_word_sign(c)) | operation_of_part(control_word_part(c));
  op->source[0] = mips_group_source(c, alu_source_rs);
  op->source[1] = mips_group_source(c, alu_source_rt);
  op->dest = mips_group_dest(c);
}

// A multiplication or division of rs and rt, of which c is added or subtracted.
static inline void mips_group_product(micro_op *op, control_word c, product_op product, uint8_t dest, uint8_t added) {
  const bool divides = product >= product_op_quotient;
  op->control =
      operation_of_kind(divides ? operation_class_divide : operation_class_multiply) | operation_of_product(product);
  op->source[0] = mips_group_source(c, alu_source_rs);
  op->source[1] = mips_group_source(c, alu_source_rt);
  op->source[2] = added;
  op->dest = dest;
}

static inline void mips_group_move(micro_op *op, uint8_t dest, uint8_t a, uint8_t b) {
  op->control = operation_of_kind(operation_class_alu) | operation_of_alu(alu_op_add);
  op->source[0] = a;
  op->source[1] = b;
  op->dest = dest;
}

// HI and LO get the two halves of a product, or of what LO and it make, and HI that beside its own: the high half
// first, as the low one overwrites LO.
static inline uint32_t mips_group_halves(micro_op *op, control_word c, product_op low, product_op high, bool adds) {
  mips_group_product(&op[0], c, high, adds ? MIPS_GROUP_TEMPORARY : MIPS_GROUP_HI, adds ? MIPS_GROUP_LO : 0);
  mips_group_product(&op[1], c, low, MIPS_GROUP_LO, adds ? MIPS_GROUP_LO : 0);
  if (!adds) return 2;
  mips_group_move(&op[2], MIPS_GROUP_HI, MIPS_GROUP_HI, MIPS_GROUP_TEMPORARY);
  return 3;
}

// The remainder is the dividend less quotient times divisor, whatever the quotient by 0 is.
static inline uint32_t mips_group_division(micro_op *op, control_word c, product_op quotient) {
  mips_group_product(&op[0], c, quotient, MIPS_GROUP_LO, 0);
  mips_group_product(&op[1], c, product_op_low_less, MIPS_GROUP_HI, mips_group_source(c, alu_source_rs));
  op[1].source[0] = MIPS_GROUP_LO;
  return 2;
}

// What works on HI and LO, and products for a register; how many operations.
static inline uint32_t mips_group_muldiv(micro_op *op, control_word c) {
  const uint8_t rs = mips_group_source(c, alu_source_rs), dest = mips_group_dest(c);
  switch (control_word_muldiv(c)) {
  case muldiv_op_mfhi: mips_group_move(op, dest, MIPS_GROUP_HI, 0); return 1;
  case muldiv_op_mflo: mips_group_move(op, dest, MIPS_GROUP_LO, 0); return 1;
  case muldiv_op_mthi: mips_group_move(op, MIPS_GROUP_HI, rs, 0); return 1;
  case muldiv_op_mtlo: mips_group_move(op, MIPS_GROUP_LO, rs, 0); return 1;
  case muldiv_op_mul: mips_group_product(op, c, product_op_low, dest, 0); return 1;
  case muldiv_op_mult: return mips_group_halves(op, c, product_op_low, product_op_high, false);
  case muldiv_op_multu: return mips_group_halves(op, c, product_op_low, product_op_high_unsigned, false);
  case muldiv_op_madd: return mips_group_halves(op, c, product_op_low, product_op_high, true);
  case muldiv_op_maddu: return mips_group_halves(op, c, product_op_low, product_op_high_unsigned, true);
  case muldiv_op_msub: return mips_group_halves(op, c, product_op_low_less, product_op_high_less, true);
  case muldiv_op_msubu: return mips_group_halves(op, c, product_op_low_less, product_op_high_less_unsigned, true);
  case muldiv_op_div: return mips_group_division(op, c, product_op_quotient);
  default: return mips_group_division(op, c, product_op_quotient_unsigned);
  }
}

// A jump into a table of entries of 8 bytes: the index is shifted first.
static inline uint32_t mips_group_indexed(micro_op *op, control_word c) {
  mips_group_flow(&op[1], c);
  op[1].source[1] = MIPS_GROUP_TEMPORARY;
  op[0].control = operation_of_kind(operation_class_alu) | operation_of_alu(alu_op_sll) | operation_of_immediate(true);
  op[0].source[0] = mips_group_source(c, alu_source_rt);
  op[0].immediate = 3;
  op[0].dest = MIPS_GROUP_TEMPORARY;
  return 2;
}

// What traps is executed by nobody, but for what traps on its result.
static inline bool mips_group_executable(control_word c) {
  return control_word_trap(c) <= trap_cause_nonzero;
}

// What the system executes, or the memory stage alone when nothing else is in flight: its operands are read then.
static inline uint32_t mips_group_serial(micro_op *op, control_word c, trap_cause cause) {
  op->control |= operation_of_trap(cause);
  op->source[0] = mips_group_source(c, alu_source_rs);
  op->source[1] = mips_group_source(c, alu_source_rt);
  op->dest = mips_group_dest(c);
  return 1;
}

// Whether a core with system control executes something alone that one without executes like others: what orders or
// links references.
static inline bool mips_group_orders(memory_access mem) {
  return mem == memory_access_barrier || mem == memory_access_linked || mem == memory_access_conditional;
}

// The operations of an instruction, without addresses; how many.
static inline uint32_t mips_group_operations(micro_op *op, enum mips_set set, control_word c) {
  const memory_access mem = control_word_mem(c);
  const bool system = set >= MIPS_SET_mips32r2_system;
  if (system && control_word_trap(c) == trap_cause_system) return mips_group_serial(op, c, trap_cause_system);
  if (system && mips_group_orders(mem)) return mips_group_serial(op, c, trap_cause_serial);
  if (!mips_group_executable(c)) {
    op->control |= operation_of_trap(control_word_trap(c));
    return 1;
  }
  if (control_word_muldiv(c) != muldiv_op_none) return mips_group_muldiv(op, c);
  if (control_word_branch(c) == branch_condition_indexed) return mips_group_indexed(op, c);
  if (control_word_branch(c) != branch_condition_never)
    mips_group_flow(op, c);
  else if (mem == memory_access_none)
    mips_group_arithmetic(op, c);
  else
    mips_group_memory(op, c);
  return 1;
}

// All operations of a word; how many.
static __attribute__((noinline)) uint32_t mips_group_split(micro_op *op, enum mips_set set, uint32_t word) {
  const struct mips_remembered known = mips_decoded_word(set, word);
  for (int i = 0; i < MIPS_GROUP_PARTS; i++)
    op[i] = (micro_op){.word = word, .immediate = known.immediate, .control = operation_of_kind(operation_class_none)};
  const uint32_t n = mips_group_operations(op, set, known.control);
  for (uint32_t i = 0; i < n; i++) {
    op[i].control |= operation_of_more(i + 1 < n);
    op[i].needs = needs_of(&op[i]);
  }
  return n;
}

static __attribute__((noinline)) void mips_group_enter(struct mips_group_entry *to, enum mips_set set, uint32_t word) {
  micro_op op[MIPS_GROUP_PARTS];
  to->count = (uint8_t)mips_group_split(op, set, word);
  to->first = op[0];
}

#endif
