// rv32i-disasm: RV32I instructions as text; see disasm.c.
#include <elf.h>

#include "rv32i/disassemble.h"
#include "tools/disasm.h"

G_STATIC_ASSERT(RV32I_TEXT_SIZE <= DISASM_TEXT_SIZE);

static void text(unsigned set, guint32 pc, guint32 word, char *to) {
  (void)set;
  rv32i_disassemble(pc, word, to);
}

int main(int argc, char **argv) {
  static const char *const sets[] = {RV32I_SET_NAMES, NULL};
  const DisasmIsa isa = {"rv32i-disasm", "RISC-V", EM_RISCV, sets, RV32I_SET_rv32i, text};
  return disasm_main(argc, argv, &isa);
}
