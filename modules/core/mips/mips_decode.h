// mips_decode.h: the fixed part of each instruction's control word and the shape of its immediate, as a table made from
// emulib's instruction table; see mips_decode.lss.
#ifndef MIPS_DECODE_H
#define MIPS_DECODE_H

#include "core/core_control.h"
#include "mips/isa.h"

enum { MIPS_DEST_none, MIPS_DEST_rd, MIPS_DEST_rt, MIPS_DEST_ra };
enum { MIPS_NO_no, MIPS_NO_yes }; // of yes and no
enum { MIPS_SERIALIZES_no, MIPS_SERIALIZES_yes, MIPS_SERIALIZES_context };

// Immediates are the low half of the word, extended by its sign, shifted and masked; three kinds are other fields.
enum {
  MIPS_IMM_none,
  MIPS_IMM_signed,
  MIPS_IMM_unsigned,
  MIPS_IMM_upper,
  MIPS_IMM_shift,
  MIPS_IMM_offset,
  MIPS_IMM_target,
  MIPS_IMM_extracted,
  MIPS_IMM_inserted,
  MIPS_IMMS
};
static const struct {
  uint32_t mask;
  uint8_t shift;
} mips_imms[MIPS_IMMS] = {[MIPS_IMM_signed] = {0xffffffff, 0},
                          [MIPS_IMM_unsigned] = {0xffff, 0},
                          [MIPS_IMM_upper] = {0xffff0000, 16},
                          [MIPS_IMM_offset] = {0xfffffffc, 2}};

// What the table says of an instruction, a number a word of its line: plain constants, because every unit with a core
// reads them.
struct mips_line {
  uint8_t reads, alu, a, b, imm, mem, size, part, sign, branch, likely, link, muldiv, move, trap, serializes, dest;
};

static const struct mips_line mips_lines[MIPS_INSTRUCTIONS] = {
#define CONTROL(name, reads, writes, alu, a, b, imm, mem, size, part, sign, branch, likely, link, muldiv, move, trap,  \
                serializes, dest)                                                                                      \
  [MIPS_##name] = {(reads),                                                                                            \
                   alu_op_##alu,                                                                                       \
                   alu_source_##a,                                                                                     \
                   alu_source_##b,                                                                                     \
                   MIPS_IMM_##imm,                                                                                     \
                   memory_access_##mem,                                                                                \
                   size,                                                                                               \
                   word_part_##part,                                                                                   \
                   MIPS_NO_##sign,                                                                                     \
                   branch_condition_##branch,                                                                          \
                   MIPS_NO_##likely,                                                                                   \
                   MIPS_NO_##link,                                                                                     \
                   muldiv_op_##muldiv,                                                                                 \
                   move_condition_##move,                                                                              \
                   trap_cause_##trap,                                                                                  \
                   MIPS_SERIALIZES_##serializes,                                                                       \
                   MIPS_DEST_##dest},
#include "mips_control.inc"
#undef CONTROL
};

struct mips_decoding {
  control_word control; // without register numbers that the word gives
  uint32_t mask;        // of the immediate
  uint8_t shift;        // of the immediate
  uint8_t dest;         // where the register written is named
  bool reads_rs, reads_rt;
};

// Made of the lines when the program starts.
static struct mips_decoding mips_decodings[MIPS_INSTRUCTIONS];

static inline control_word mips_line_control(const struct mips_line *l) {
  const bool whole = l->part == word_part_whole, writes = l->dest != MIPS_DEST_none,
             unusual = l->link || l->trap != trap_cause_none || l->muldiv == muldiv_op_mfhi ||
                       l->muldiv == muldiv_op_mflo || l->muldiv == muldiv_op_mul || l->move != move_condition_none;
  return control_word_of_alu(l->alu) | control_word_of_a(l->a) | control_word_of_b(l->b) | control_word_of_mem(l->mem) |
         control_word_of_size(l->size) | control_word_of_part(l->part) |
         control_word_of_align(whole && l->size ? l->size - 1 : 0) | control_word_of_sign(l->sign) |
         control_word_of_branch(l->branch) | control_word_of_likely(l->likely) | control_word_of_link(l->link) |
         control_word_of_muldiv(l->muldiv) | control_word_of_move(l->move) | control_word_of_trap(l->trap) |
         control_word_of_serializes(l->serializes != MIPS_SERIALIZES_no) |
         control_word_of_keeps(l->serializes == MIPS_SERIALIZES_context) |
         control_word_of_loads(l->mem != memory_access_none && writes) | control_word_of_unusual(unusual) |
         control_word_of_rs(l->reads & MIPS_FIELD_rs ? 0 : CORE_NO_SOURCE) |
         control_word_of_rt(l->reads & MIPS_FIELD_rt ? 0 : CORE_NO_SOURCE) |
         control_word_of_dest(l->dest == MIPS_DEST_ra ? 31
                              : writes                ? 0
                                                      : CORE_NO_DEST);
}

// Whether the ALU may as well add, which it does most often and the simulation takes for granted: for a number that no
// register gets (a no-operation shifts), and in a move, which is or with register 0.
static inline bool mips_may_add(control_word c, uint32_t dest, uint32_t word) {
  return (dest == CORE_NO_DEST && !control_word_unusual(c)) ||
         (control_word_alu(c) == alu_op_or && control_word_b(c) == alu_source_rt && mips_rt(word) == 0);
}

// The control word of an instruction word.
static inline control_word mips_control_word(const struct mips_decoding *d, uint32_t word) {
  control_word c = d->control;
  c |= control_word_of_rs(d->reads_rs ? mips_rs(word) : 0);
  c |= control_word_of_rt(d->reads_rt ? mips_rt(word) : 0);
  uint32_t dest = d->dest == MIPS_DEST_rd ? mips_rd(word) : d->dest == MIPS_DEST_rt ? mips_rt(word) : 32;
  dest = dest == 0 ? CORE_NO_DEST : dest; // register 0 is never written
  if (d->dest == MIPS_DEST_rd || d->dest == MIPS_DEST_rt) c |= control_word_of_dest(dest);
  return mips_may_add(c, control_word_dest(c), word) ? control_word_set_alu(c, alu_op_add) : c;
}

// The control word of what could not be fetched, which shows its immediate as the result.
static inline control_word mips_unfetched(void) {
  return core_failed(trap_cause_fetch) | control_word_of_b(alu_source_imm);
}

// The immediate of an instruction word; 0 when it has none.  That of a jump is its place in the region of the pc.
static inline uint32_t mips_immediate(const struct mips_decoding *d, uint32_t word) {
  if (control_word_branch(d->control) == branch_condition_jump) return mips_jump_target(0, word);
  const alu_op op = control_word_alu(d->control);
  if (op == alu_op_ext) return mips_shift(word) | mips_extracted(word) << CORE_FIELD_SIZE;
  if (op == alu_op_ins) return mips_shift(word) | mips_inserted(word) << CORE_FIELD_SIZE;
  uint32_t number = (uint32_t)(int32_t)(int16_t)word << d->shift & d->mask;
  return control_word_b(d->control) == alu_source_imm && d->mask == 0 ? mips_shift(word) : number;
}

// Results of the decoder, by the place of the word in the program.  They are no state of any machine: a word decodes to
// the same always, and all decoders share them.
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

// What is not remembered yet reads as the word 0.
static __attribute__((constructor)) void mips_prepare(void) {
  for (int i = 0; i < MIPS_INSTRUCTIONS; i++) {
    const struct mips_line *l = &mips_lines[i];
    mips_decodings[i] =
        (struct mips_decoding){.control = i == MIPS_reserved ? core_failed(trap_cause_reserved) : mips_line_control(l),
                               .mask = mips_imms[l->imm].mask,
                               .shift = mips_imms[l->imm].shift,
                               .dest = l->dest,
                               .reads_rs = (l->reads & MIPS_FIELD_rs) != 0,
                               .reads_rt = (l->reads & MIPS_FIELD_rt) != 0};
  }
  for (int set = 0; set < MIPS_SETS; set++) {
    const struct mips_remembered zero = mips_decoded_word((enum mips_set)set, 0);
    for (int i = 0; i < MIPS_PLACES; i++) mips_remembered[set][i] = zero;
  }
}

static __attribute__((noinline, unused)) struct mips_remembered mips_remember(enum mips_set set, uint32_t pc,
                                                                              uint32_t word) {
  return mips_remembered[set][mips_place(pc)] = mips_decoded_word(set, word);
}

#endif
