// The disassembler: mnemonic and operand formats come from the generated table.
#include "disassemble.h"

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

const char *const mips_register_names[32] = {
    "$zero", "$at", "$v0", "$v1", "$a0", "$a1", "$a2", "$a3", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7",
    "$s0",   "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$t8", "$t9", "$k0", "$k1", "$gp", "$sp", "$fp", "$ra"};

struct text {
  char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(t->at, (size_t)(t->end - t->at), format, arguments);
  va_end(arguments);
  if (n > 0) t->at = n < t->end - t->at ? t->at + n : t->end - 1;
}

// A number that hardware ignores is left out when it is zero, as assemblers do.
static void put_code(struct text *t, const char *separator, uint32_t code) {
  if (code != 0) put(t, "%s%u", separator, code);
}

static void put_operand(struct text *t, const char *separator, enum mips_operand operand, uint32_t pc, uint32_t word) {
  const char *const *name = mips_register_names;
  switch (operand) {
  case MIPS_OPERAND_none: return;
  case MIPS_OPERAND_rd: put(t, "%s%s", separator, name[mips_rd(word)]); return;
  case MIPS_OPERAND_rs: put(t, "%s%s", separator, name[mips_rs(word)]); return;
  case MIPS_OPERAND_rt: put(t, "%s%s", separator, name[mips_rt(word)]); return;
  case MIPS_OPERAND_sa: put(t, "%s%u", separator, mips_shift(word)); return;
  case MIPS_OPERAND_simm: put(t, "%s%d", separator, (int)mips_signed(word)); return;
  case MIPS_OPERAND_uimm: put(t, "%s0x%x", separator, mips_unsigned(word)); return;
  case MIPS_OPERAND_memory: put(t, "%s%d(%s)", separator, (int)mips_signed(word), name[mips_rs(word)]); return;
  case MIPS_OPERAND_offset: put(t, "%s0x%x", separator, mips_branch_target(pc, word)); return;
  case MIPS_OPERAND_target: put(t, "%s0x%x", separator, mips_jump_target(pc, word)); return;
  case MIPS_OPERAND_code:
    // The first of two numbers: zero is left out only when the second is too.
    if ((word >> 6 & 0xfffff) != 0) put(t, "%s%u", separator, word >> 16 & 0x3ff);
    return;
  case MIPS_OPERAND_code10: put_code(t, separator, word >> 6 & 0x3ff); return;
  case MIPS_OPERAND_code20: put_code(t, separator, word >> 6 & 0xfffff); return;
  case MIPS_OPERAND_code19: put_code(t, separator, word >> 6 & 0x7ffff); return;
  case MIPS_OPERAND_hint: put(t, "%s%u", separator, mips_rt(word)); return;
  case MIPS_OPERAND_position: put(t, "%s%u", separator, mips_shift(word)); return;
  case MIPS_OPERAND_extracted: put(t, "%s%u", separator, mips_extracted(word)); return;
  case MIPS_OPERAND_inserted: put(t, "%s%u", separator, mips_inserted(word)); return;
  case MIPS_OPERAND_stype: put_code(t, separator, word >> 6 & 31); return;
  case MIPS_OPERAND_cp0:
  case MIPS_OPERAND_hwr: put(t, "%s$%u", separator, mips_rd(word)); return;
  case MIPS_OPERAND_sel: put(t, "%s%u", separator, word & 7); return;
  case MIPS_OPERAND_ft: put(t, "%s$f%u", separator, mips_rt(word)); return;
  case MIPS_OPERAND_ct: put(t, "%s$%u", separator, mips_rt(word)); return;
  case MIPS_OPERAND_from: put(t, "%s$%u", separator, mips_rt(word)); return;
  case MIPS_OPERAND_to: put(t, "%s$%u", separator, mips_rd(word)); return;
  case MIPS_OPERAND_u: put(t, "%s%u", separator, word >> 5 & 1); return;
  case MIPS_OPERAND_h: put(t, "%s%u", separator, word >> 4 & 1); return;
  case MIPS_OPERAND_new: put(t, "%s%s", separator, name[mips_rd(word)]); return;
  case MIPS_OPERAND_function: put(t, "%s0x%07x", separator, word & 0x03ffffff); return;
  }
}

// The name that a word has of its own, or NULL.
static const char *alias(enum mips_set set, uint32_t word) {
  for (const struct mips_alias *a = mips_aliases; a->name != NULL; a++)
    if (a->word == word && (a->sets >> set & 1)) return a->name;
  return NULL;
}

void mips_disassemble(enum mips_set set, uint32_t pc, uint32_t word, char text[MIPS_TEXT_SIZE]) {
  struct text t = {text, text + MIPS_TEXT_SIZE};
  enum mips_instruction i = mips_find(set, word);
  const char *own_name = alias(set, word);
  if (i == MIPS_reserved) {
    put(&t, ".word 0x%08x", word);
  } else if (own_name != NULL) {
    put(&t, "%s", own_name);
  } else {
    put(&t, "%s", mips_info[i].name);
    for (int n = 0; n < MIPS_MAX_OPERANDS; n++)
      put_operand(&t, n == 0 ? " " : ", ", mips_info[i].operands[n], pc, word);
  }
}

static void set_text(enum mips_set set, uint32_t pc, uint32_t word, char *text, size_t size) {
  char whole[MIPS_TEXT_SIZE];
  mips_disassemble(set, pc, word, whole);
  snprintf(text, size, "%s", whole);
}

void mips_text(uint32_t pc, uint32_t word, char *text, size_t size) {
  set_text(MIPS_SET_prijoff, pc, word, text, size);
}

void mips32_text(uint32_t pc, uint32_t word, char *text, size_t size) {
  set_text(MIPS_SET_mips32r2_mt, pc, word, text, size);
}
