// One RV32I instruction as assembly text, for reports: the disassembler without the tables of isa.h.
#ifndef EMULIB_RV32I_TEXT_H
#define EMULIB_RV32I_TEXT_H

#include <stddef.h>
#include <stdint.h>

// The instruction, cut to `size` bytes with the final zero.
void rv32i_text(uint32_t pc, uint32_t word, char *text, size_t size);

#endif
