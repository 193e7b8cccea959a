// RV32I instruction words as assembly text.
#ifndef EMULIB_RV32I_DISASSEMBLE_H
#define EMULIB_RV32I_DISASSEMBLE_H

#include "isa.h"

enum { RV32I_TEXT_SIZE = 48 }; // bytes that hold any disassembled instruction

// "zero", "ra", ...
extern const char *const rv32i_register_names[32];

// Writes the instruction that `word` at address `pc` is; branch targets are absolute hexadecimal addresses.  A word
// that is no instruction becomes ".word 0x...".
void rv32i_disassemble(uint32_t pc, uint32_t word, char text[RV32I_TEXT_SIZE]);

#endif
