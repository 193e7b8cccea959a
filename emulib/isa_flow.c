/* Calls and returns by convention: through the registers that compilers and hardware predictors take for them; see
 * isa_flow.h. */
#include "isa_flow.h"

#include <stddef.h>

enum { MIPS_RA = 31, RISCV_RA = 1, RISCV_T0 = 5 };

/* jal, jalr, bltzal, bgezal and their likely forms; jr $ra. */
static IsaFlowKind mips_kind(uint32_t word) {
  const uint32_t opcode = word >> 26, rs = word >> 21 & 31, rt = word >> 16 & 31, function = word & 63;
  if (opcode == 3 || (opcode == 1 && rt >= 0x10 && rt <= 0x13) || (opcode == 0 && function == 9)) return ISA_FLOW_CALL;
  return opcode == 0 && function == 8 && rs == MIPS_RA ? ISA_FLOW_RETURN : ISA_FLOW_OTHER;
}

static int links(uint32_t number) {
  return number == RISCV_RA || number == RISCV_T0;
}

/* jal and jalr that keep the address in a link register; jalr to one that keeps nothing. */
static IsaFlowKind riscv_kind(uint32_t word) {
  const uint32_t opcode = word & 0x7f, rd = word >> 7 & 31, rs1 = word >> 15 & 31;
  if ((opcode == 0x6f || opcode == 0x67) && links(rd)) return ISA_FLOW_CALL;
  return opcode == 0x67 && rd == 0 && links(rs1) ? ISA_FLOW_RETURN : ISA_FLOW_OTHER;
}

const IsaFlow isa_flows[] = {
    {"mips", 1, mips_kind},
    {"riscv32", 0, riscv_kind},
    {NULL, 0, NULL},
};
