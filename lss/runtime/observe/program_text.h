// Addresses and instruction words of simulated programs as text for people.
#ifndef SPINACH_PROGRAM_TEXT_H
#define SPINACH_PROGRAM_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

// The path of an executable that this machine runs; NULL beyond the last.
const char *spinach_program_path(guint index);

// Takes names and lines from an executable that the machine does not read itself.  On failure prints a line and returns
// false.
bool spinach_program_add(const char *path);

// "0x80001234 <main+0x10> main.c:12" as far as a program given to the machine knows it; the caller frees it.
char *spinach_describe_address(uint32_t address);
char *spinach_disassemble(uint32_t pc, uint32_t word);

// The instruction that a program given to the machine has there in its file; false: none has.
bool spinach_program_word(uint32_t pc, uint32_t *word);

#endif
