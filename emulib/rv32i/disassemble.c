// The disassembler: mnemonic and operand formats come from the generated table.
#include "disassemble.h"

#include <stdio.h>

#include "text.h"

const char *const rv32i_register_names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                              "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                              "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

// What a fence orders: of input, output, read, write those whose bits are set.
static void put_order(char *text, size_t size, unsigned bits) {
  snprintf(text, size, "%s%s%s%s%s", bits & 8 ? "i" : "", bits & 4 ? "o" : "", bits & 2 ? "r" : "", bits & 1 ? "w" : "",
           bits & 15 ? "" : "0");
}

static void put_operand(char *text, size_t size, enum rv32i_operand operand, uint32_t pc, uint32_t word) {
  const char *const *name = rv32i_register_names;
  switch (operand) {
  case RV32I_OPERAND_none: *text = '\0'; return;
  case RV32I_OPERAND_rd: snprintf(text, size, "%s", name[rv32i_rd(word)]); return;
  case RV32I_OPERAND_rs1: snprintf(text, size, "%s", name[rv32i_rs1(word)]); return;
  case RV32I_OPERAND_rs2: snprintf(text, size, "%s", name[rv32i_rs2(word)]); return;
  case RV32I_OPERAND_imm: snprintf(text, size, "%d", (int)rv32i_imm_i(word)); return;
  case RV32I_OPERAND_shamt: snprintf(text, size, "%u", rv32i_rs2(word)); return;
  case RV32I_OPERAND_upper: snprintf(text, size, "0x%x", rv32i_imm_u(word) >> 12); return;
  case RV32I_OPERAND_memory: snprintf(text, size, "%d(%s)", (int)rv32i_imm_i(word), name[rv32i_rs1(word)]); return;
  case RV32I_OPERAND_place: snprintf(text, size, "%d(%s)", (int)rv32i_imm_s(word), name[rv32i_rs1(word)]); return;
  case RV32I_OPERAND_offset: snprintf(text, size, "0x%x", pc + rv32i_imm_b(word)); return;
  case RV32I_OPERAND_target: snprintf(text, size, "0x%x", pc + rv32i_imm_j(word)); return;
  case RV32I_OPERAND_pred: put_order(text, size, word >> 24); return;
  case RV32I_OPERAND_succ: put_order(text, size, word >> 20); return;
  }
}

void rv32i_text(uint32_t pc, uint32_t word, char *text, size_t size) {
  enum rv32i_instruction i = rv32i_find(RV32I_SET_rv32i, word);
  if (i == RV32I_reserved) {
    snprintf(text, size, ".word 0x%08x", word);
    return;
  }
  char whole[RV32I_TEXT_SIZE], operand[RV32I_TEXT_SIZE];
  int used = snprintf(whole, sizeof whole, "%s", rv32i_info[i].name);
  for (int n = 0; n < RV32I_MAX_OPERANDS && rv32i_info[i].operands[n] != RV32I_OPERAND_none; n++) {
    put_operand(operand, sizeof operand, rv32i_info[i].operands[n], pc, word);
    used += snprintf(whole + used, sizeof whole - (size_t)used, "%s%.16s", n == 0 ? " " : ", ", operand);
  }
  snprintf(text, size, "%s", whole);
}

void rv32i_disassemble(uint32_t pc, uint32_t word, char text[RV32I_TEXT_SIZE]) {
  rv32i_text(pc, word, text, RV32I_TEXT_SIZE);
}
