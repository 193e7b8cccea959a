/* The disassemblers, by the machine that ELF files name; see isa_text.h. */
#include "isa_text.h"

#include <elf.h>

#include "mips/text.h"
#include "rv32i/text.h"

const IsaText isa_texts[] = {
    {EM_MIPS, 0, mips_text},
    {EM_MIPS, EF_MIPS_ARCH_32, mips32_text},
    {EM_RISCV, 0, rv32i_text},
    {0, 0, NULL},
};
