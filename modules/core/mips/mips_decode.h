/* mips_decode.h: the fixed part of each instruction's control word and the shape of its immediate, as a table made from
 * emulib's instruction table; see mips_decode.lss. */
#ifndef MIPS_DECODE_H
#define MIPS_DECODE_H

#include "core/core_control.h"
#include "mips/isa.h"

enum { MIPS_DEST_none, MIPS_DEST_rd, MIPS_DEST_rt, MIPS_DEST_ra };
enum { MIPS_NO_no, MIPS_NO_yes }; /* of yes and no */

/* Immediates are the low half of the word, extended by its sign, shifted and masked; two kinds are other fields. */
#define MIPS_IMM_SHIFT_none      0
#define MIPS_IMM_SHIFT_signed    0
#define MIPS_IMM_SHIFT_unsigned  0
#define MIPS_IMM_SHIFT_upper     16
#define MIPS_IMM_SHIFT_shift     0
#define MIPS_IMM_SHIFT_offset    2
#define MIPS_IMM_SHIFT_target    0
#define MIPS_IMM_SHIFT_extracted 0
#define MIPS_IMM_SHIFT_inserted  0
#define MIPS_IMM_MASK_none       0u
#define MIPS_IMM_MASK_signed     0xffffffffu
#define MIPS_IMM_MASK_unsigned   0xffffu
#define MIPS_IMM_MASK_upper      0xffff0000u
#define MIPS_IMM_MASK_shift      0u
#define MIPS_IMM_MASK_offset     0xfffffffcu
#define MIPS_IMM_MASK_target     0u
#define MIPS_IMM_MASK_extracted  0u
#define MIPS_IMM_MASK_inserted   0u

struct mips_decoding {
  control_word control; /* without register numbers that the word gives */
  uint32_t mask;        /* of the immediate */
  uint8_t shift;        /* of the immediate */
  uint8_t dest;         /* where the register written is named */
  bool reads_rs, reads_rt;
};

#define MIPS_IS_SOURCE(reads, field) (((reads) & MIPS_FIELD_##field) != 0)

static const struct mips_decoding mips_decodings[MIPS_INSTRUCTIONS] = {
    [MIPS_reserved] = {.control = CORE_CONTROL_IDLE | control_word_of_trap(trap_cause_reserved)},
#define CONTROL(name, reads, writes, alu, a, b, imm, mem, size, part, sign, branch, likely, link, muldiv, move, trap,  \
                serializes, dest_)                                                                                     \
  [MIPS_##name] = {                                                                                                    \
      .control =                                                                                                       \
          control_word_of_alu(alu_op_##alu) | control_word_of_a(alu_source_##a) | control_word_of_b(alu_source_##b) |  \
          control_word_of_mem(memory_access_##mem) | control_word_of_size(size) |                                      \
          control_word_of_part(word_part_##part) |                                                                     \
          control_word_of_align(word_part_##part == word_part_whole ? (size ? size - 1 : 0) : 0) |                     \
          control_word_of_sign(MIPS_NO_##sign) | control_word_of_branch(branch_condition_##branch) |                   \
          control_word_of_likely(MIPS_NO_##likely) | control_word_of_link(MIPS_NO_##link) |                            \
          control_word_of_muldiv(muldiv_op_##muldiv) | control_word_of_move(move_condition_##move) |                   \
          control_word_of_trap(trap_cause_##trap) | control_word_of_serializes(MIPS_NO_##serializes) |                 \
          control_word_of_loads(memory_access_##mem != memory_access_none && MIPS_DEST_##dest_ != MIPS_DEST_none) |    \
          control_word_of_unusual(MIPS_NO_##link || trap_cause_##trap != trap_cause_none ||                            \
                                  muldiv_op_##muldiv == muldiv_op_mfhi || muldiv_op_##muldiv == muldiv_op_mflo ||      \
                                  muldiv_op_##muldiv == muldiv_op_mul ||                                               \
                                  move_condition_##move != move_condition_none) |                                      \
          control_word_of_rs(MIPS_IS_SOURCE(reads, rs) ? 0 : CORE_NO_SOURCE) |                                         \
          control_word_of_rt(MIPS_IS_SOURCE(reads, rt) ? 0 : CORE_NO_SOURCE) |                                         \
          control_word_of_dest(MIPS_DEST_##dest_ == MIPS_DEST_ra     ? 31                                              \
                               : MIPS_DEST_##dest_ == MIPS_DEST_none ? CORE_NO_DEST                                    \
                                                                     : 0),                                             \
      .mask = MIPS_IMM_MASK_##imm,                                                                                     \
      .shift = MIPS_IMM_SHIFT_##imm,                                                                                   \
      .dest = MIPS_DEST_##dest_,                                                                                       \
      .reads_rs = MIPS_IS_SOURCE(reads, rs),                                                                           \
      .reads_rt = MIPS_IS_SOURCE(reads, rt)},
#include "mips_control.inc"
#undef CONTROL
};

/* Whether the ALU may as well add, which it does most often and the simulation takes for granted: for a number that no
 * register gets (a no-operation shifts), and in a move, which is or with register 0. */
static inline bool mips_may_add(control_word c, uint32_t dest, uint32_t word) {
  return (dest == CORE_NO_DEST && !control_word_unusual(c)) ||
         (control_word_alu(c) == alu_op_or && control_word_b(c) == alu_source_rt && mips_rt(word) == 0);
}

/* The control word of an instruction word. */
static inline control_word mips_control_word(const struct mips_decoding *d, uint32_t word) {
  control_word c = d->control;
  c |= control_word_of_rs(d->reads_rs ? mips_rs(word) : 0);
  c |= control_word_of_rt(d->reads_rt ? mips_rt(word) : 0);
  uint32_t dest = d->dest == MIPS_DEST_rd ? mips_rd(word) : d->dest == MIPS_DEST_rt ? mips_rt(word) : 32;
  dest = dest == 0 ? CORE_NO_DEST : dest; /* register 0 is never written */
  if (d->dest == MIPS_DEST_rd || d->dest == MIPS_DEST_rt) c |= control_word_of_dest(dest);
  return mips_may_add(c, control_word_dest(c), word) ? control_word_set_alu(c, alu_op_add) : c;
}

/* The control word of what could not be fetched, which shows its immediate as the result. */
static inline control_word mips_unfetched(void) {
  return core_failed(trap_cause_fetch) | control_word_of_b(alu_source_imm);
}

/* The immediate of an instruction word; 0 when it has none.  That of a jump is its place in the region of the pc. */
static inline uint32_t mips_immediate(const struct mips_decoding *d, uint32_t word) {
  if (control_word_branch(d->control) == branch_condition_jump) return mips_jump_target(0, word);
  const alu_op op = control_word_alu(d->control);
  if (op == alu_op_ext) return mips_shift(word) | mips_extracted(word) << CORE_FIELD_SIZE;
  if (op == alu_op_ins) return mips_shift(word) | mips_inserted(word) << CORE_FIELD_SIZE;
  uint32_t number = (uint32_t)(int32_t)(int16_t)word << d->shift & d->mask;
  return control_word_b(d->control) == alu_source_imm && d->mask == 0 ? mips_shift(word) : number;
}

/* Results of the decoder, by the place of the word in the program.  They are no state of any machine: a word decodes to
 * the same always, and all decoders share them. */
enum { MIPS_PLACES = 1024 };
struct mips_remembered {
  uint32_t word, immediate;
  control_word control;
};
static struct mips_remembered mips_remembered[MIPS_SETS][MIPS_PLACES];

static inline uint32_t mips_place(uint32_t pc) {
  return pc / 4 % MIPS_PLACES;
}

static inline struct mips_remembered mips_decoded_word(enum mips_set set, uint32_t word) {
  const struct mips_decoding *d = &mips_decodings[mips_find(set, word)];
  return (struct mips_remembered){
      .word = word, .immediate = mips_immediate(d, word), .control = mips_control_word(d, word)};
}

/* What is not remembered yet reads as the word 0. */
static __attribute__((constructor)) void mips_remember_zeroes(void) {
  for (int set = 0; set < MIPS_SETS; set++)
    for (int i = 0; i < MIPS_PLACES; i++) mips_remembered[set][i] = mips_decoded_word((enum mips_set)set, 0);
}

static __attribute__((noinline, unused)) struct mips_remembered mips_remember(enum mips_set set, uint32_t pc,
                                                                              uint32_t word) {
  return mips_remembered[set][mips_place(pc)] = mips_decoded_word(set, word);
}

#endif
