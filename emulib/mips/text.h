/* One MIPS instruction as assembly text, for reports: the disassembler without the tables of isa.h. */
#ifndef EMULIB_MIPS_TEXT_H
#define EMULIB_MIPS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The instruction as the largest set has it, cut to `size` bytes with the final zero. */
void mips_text(uint32_t pc, uint32_t word, char *text, size_t size);

#endif
