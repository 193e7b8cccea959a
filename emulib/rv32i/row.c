// RV32I as tools see it that know several instruction sets: its row in isas.c.
#include <elf.h>

#include "isas.h"
#include "text.h"

static void text(uint32_t flags, uint32_t pc, uint32_t word, char *to, size_t size) {
  (void)flags;
  rv32i_text(pc, word, to, size);
}

// The registers that compilers and hardware predictors take for return addresses.
static bool links(uint32_t number) {
  enum { RA = 1, T0 = 5 };
  return number == RA || number == T0;
}

// jal and jalr that keep the address in a link register; jalr to one that keeps nothing.
static IsaFlow flow(uint32_t word) {
  const uint32_t opcode = word & 0x7f, rd = word >> 7 & 31, rs1 = word >> 15 & 31;
  if ((opcode == 0x6f || opcode == 0x67) && links(rd)) return ISA_FLOW_CALL;
  return opcode == 0x67 && rd == 0 && links(rs1) ? ISA_FLOW_RETURN : ISA_FLOW_OTHER;
}

#define X(name, n) {name, n, ISA_GENERAL, NULL, NULL}

// clang-format off
static const IsaRegister registers[] = {
    {"zero", 0, ISA_ZERO, "org.gnu.gdb.riscv.cpu", NULL},
    X("ra", 1), X("sp", 2), X("gp", 3), X("tp", 4), X("t0", 5), X("t1", 6), X("t2", 7), X("fp", 8), X("s1", 9),
    X("a0", 10), X("a1", 11), X("a2", 12), X("a3", 13), X("a4", 14), X("a5", 15), X("a6", 16), X("a7", 17),
    X("s2", 18), X("s3", 19), X("s4", 20), X("s5", 21), X("s6", 22), X("s7", 23), X("s8", 24), X("s9", 25),
    X("s10", 26), X("s11", 27), X("t3", 28), X("t4", 29), X("t5", 30), X("t6", 31),
    {"pc", 32, ISA_PC, NULL, " type=\"code_ptr\""},
    {0},
};
// clang-format on

extern const Isa isa_rv32i;
const Isa isa_rv32i = {
    .name = "riscv32",
    .title = "RISC-V",
    .machine = EM_RISCV,
    .text = text,
    .flow = flow,
    .architecture = "riscv:rv32",
    .registers = registers,
};
