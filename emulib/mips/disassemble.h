// MIPS instruction words as assembly text.
#ifndef EMULIB_MIPS_DISASSEMBLE_H
#define EMULIB_MIPS_DISASSEMBLE_H

#include "isa.h"

enum { MIPS_TEXT_SIZE = 48 }; // bytes that hold any disassembled instruction

// "$zero", "$at", ...
extern const char *const mips_register_names[32];

// Writes the instruction that `word` at address `pc` is in `set`; branch targets are absolute hexadecimal addresses.
// A word that is no instruction of the set becomes ".word 0x...".
void mips_disassemble(enum mips_set set, uint32_t pc, uint32_t word, char text[MIPS_TEXT_SIZE]);

#endif
