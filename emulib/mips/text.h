// One MIPS instruction as assembly text, for reports: the disassembler without the tables of isa.h.
#ifndef EMULIB_MIPS_TEXT_H
#define EMULIB_MIPS_TEXT_H

#include <stddef.h>
#include <stdint.h>

// The instruction as the largest set of MIPS I and II has it, the largest of MIPS32; cut to `size` bytes with the final
// zero.
void mips_text(uint32_t pc, uint32_t word, char *text, size_t size);
void mips32_text(uint32_t pc, uint32_t word, char *text, size_t size);

#endif
