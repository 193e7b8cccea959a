/* mips_decode.h: the fixed part of each instruction's control word and the shape of its immediate, as a table made from
 * emulib's instruction table; see mips_decode.lss. */
#ifndef MIPS_DECODE_H
#define MIPS_DECODE_H

#include "core/core_control.h"
#include "mips/isa.h"

enum { MIPS_DEST_none, MIPS_DEST_rd, MIPS_DEST_rt, MIPS_DEST_ra };
enum { MIPS_NO_no, MIPS_NO_yes }; /* of yes and no */

/* Immediates are the low half of the word, extended by its sign, shifted and masked; two kinds are other fields. */
#define MIPS_IMM_SHIFT_none     0
#define MIPS_IMM_SHIFT_signed   0
#define MIPS_IMM_SHIFT_unsigned 0
#define MIPS_IMM_SHIFT_upper    16
#define MIPS_IMM_SHIFT_shift    0
#define MIPS_IMM_SHIFT_offset   2
#define MIPS_IMM_SHIFT_target   0
#define MIPS_IMM_MASK_none      0u
#define MIPS_IMM_MASK_signed    0xffffffffu
#define MIPS_IMM_MASK_unsigned  0xffffu
#define MIPS_IMM_MASK_upper     0xffff0000u
#define MIPS_IMM_MASK_shift     0u
#define MIPS_IMM_MASK_offset    0xfffffffcu
#define MIPS_IMM_MASK_target    0u

struct mips_decoding {
  uint64_t control; /* without register numbers that the word gives */
  uint32_t mask;    /* of the immediate */
  uint8_t shift;    /* of the immediate */
  uint8_t dest;     /* where the register written is named */
  bool reads_rs, reads_rt;
};

#define MIPS_IS_SOURCE(reads, field) (((reads) & MIPS_FIELD_##field) != 0)
#define MIPS_PLACE(value, first)     ((uint64_t)(value) << (first))

static const struct mips_decoding mips_decodings[MIPS_INSTRUCTIONS] = {
    [MIPS_reserved] = {.control = CORE_CONTROL_IDLE | MIPS_PLACE(CORE_TRAP_reserved, CORE_C_TRAP)},
#define CONTROL(name, reads, writes, alu, a, b, imm, mem, size, part, sign, branch, likely, link, muldiv, trap, dest_) \
  [MIPS_##name] = {                                                                                                    \
      .control = MIPS_PLACE(CORE_ALU_##alu, CORE_C_ALU) | MIPS_PLACE(CORE_A_##a, CORE_C_A) |                           \
                 MIPS_PLACE(CORE_B_##b, CORE_C_B) | MIPS_PLACE(CORE_MEM_##mem, CORE_C_MEM) |                           \
                 MIPS_PLACE(size, CORE_C_SIZE) | MIPS_PLACE(CORE_PART_##part, CORE_C_PART) |                           \
                 MIPS_PLACE(CORE_PART_##part == CORE_PART_whole ? (size ? size - 1 : 0) : 0, CORE_C_ALIGN) |           \
                 MIPS_PLACE(MIPS_NO_##sign, CORE_C_SIGN) | MIPS_PLACE(CORE_BRANCH_##branch, CORE_C_BRANCH) |           \
                 MIPS_PLACE(MIPS_NO_##likely, CORE_C_LIKELY) | MIPS_PLACE(MIPS_NO_##link, CORE_C_LINK) |               \
                 MIPS_PLACE(CORE_MULDIV_##muldiv, CORE_C_MULDIV) | MIPS_PLACE(CORE_TRAP_##trap, CORE_C_TRAP) |         \
                 MIPS_PLACE(CORE_MEM_##mem != CORE_MEM_none && MIPS_DEST_##dest_ != MIPS_DEST_none, CORE_C_LOADS) |    \
                 MIPS_PLACE(MIPS_NO_##link || CORE_TRAP_##trap != CORE_TRAP_none ||                                    \
                                CORE_MULDIV_##muldiv == CORE_MULDIV_mfhi || CORE_MULDIV_##muldiv == CORE_MULDIV_mflo,  \
                            CORE_C_UNUSUAL) |                                                                          \
                 MIPS_PLACE(MIPS_IS_SOURCE(reads, rs) ? 0 : CORE_NO_SOURCE, CORE_C_RS) |                               \
                 MIPS_PLACE(MIPS_IS_SOURCE(reads, rt) ? 0 : CORE_NO_SOURCE, CORE_C_RT) |                               \
                 MIPS_PLACE(MIPS_DEST_##dest_ == MIPS_DEST_ra     ? 31                                                 \
                            : MIPS_DEST_##dest_ == MIPS_DEST_none ? CORE_NO_DEST                                       \
                                                                  : 0,                                                 \
                            CORE_C_DEST),                                                                              \
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
static inline bool mips_may_add(uint64_t c, uint32_t dest, uint32_t word) {
  return (dest == CORE_NO_DEST && !core_c_unusual(c)) ||
         (core_c_alu(c) == CORE_ALU_or && core_c_b(c) == CORE_B_rt && mips_rt(word) == 0);
}

/* The control word of an instruction word. */
static inline uint64_t mips_control_word(const struct mips_decoding *d, uint32_t word) {
  uint64_t c = d->control;
  c |= (uint64_t)(d->reads_rs ? mips_rs(word) : 0) << CORE_C_RS;
  c |= (uint64_t)(d->reads_rt ? mips_rt(word) : 0) << CORE_C_RT;
  uint32_t dest = d->dest == MIPS_DEST_rd ? mips_rd(word) : d->dest == MIPS_DEST_rt ? mips_rt(word) : 32;
  dest = dest == 0 ? CORE_NO_DEST : dest; /* register 0 is never written */
  if (d->dest == MIPS_DEST_rd || d->dest == MIPS_DEST_rt) c |= (uint64_t)dest << CORE_C_DEST;
  return mips_may_add(c, core_c_dest(c), word) ? (c & ~CORE_FIELD_MASK(4)) | MIPS_PLACE(CORE_ALU_add, CORE_C_ALU) : c;
}

/* The immediate of an instruction word; 0 when it has none.  That of a jump is its place in the region of the pc. */
static inline uint32_t mips_immediate(const struct mips_decoding *d, uint32_t word) {
  if (core_c_branch(d->control) == CORE_BRANCH_jump) return mips_jump_target(0, word);
  uint32_t number = (uint32_t)(int32_t)(int16_t)word << d->shift & d->mask;
  return core_c_b(d->control) == CORE_B_imm && d->mask == 0 ? mips_shift(word) : number;
}

/* Results of the decoder, by the place of the word in the program.  They are no state of any machine: a word decodes to
 * the same always, and all decoders share them. */
enum { MIPS_PLACES = 1024 };
struct mips_remembered {
  uint32_t word, immediate;
  uint64_t control;
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
