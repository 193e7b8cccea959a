// mips-disasm: MIPS instructions as text; see disasm.c.
#include <elf.h>

#include "mips/disassemble.h"
#include "tools/disasm.h"

G_STATIC_ASSERT(MIPS_TEXT_SIZE <= DISASM_TEXT_SIZE);

static void text(unsigned set, guint32 pc, guint32 word, char *to) {
  mips_disassemble((enum mips_set)set, pc, word, to);
}

int main(int argc, char **argv) {
  static const char *const sets[] = {MIPS_SET_NAMES, NULL};
  const DisasmIsa isa = {"mips-disasm", "MIPS", EM_MIPS, sets, MIPS_SET_mips2, text};
  return disasm_main(argc, argv, &isa);
}
