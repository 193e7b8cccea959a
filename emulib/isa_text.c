/* The disassemblers, by the machine that ELF files name; see isa_text.h. */
#include "isa_text.h"

#include <elf.h>

#include "mips/text.h"
#include "rv32i/text.h"

const IsaText isa_texts[] = {
    {EM_MIPS, mips_text},
    {EM_RISCV, rv32i_text},
    {0, NULL},
};
