// Addresses and instruction words of simulated programs as text for people.
#ifndef SPINACH_PROGRAM_TEXT_H
#define SPINACH_PROGRAM_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

// The path of an executable that this machine runs; NULL beyond the last.
const char *spinach_program_path(guint index);
// The same as the machine's parameters list them, each as often as they do; beyond the last the last; NULL: there is
// none.
const char *spinach_listed_path(guint number);

// Takes names and lines from an executable that the machine does not read itself.  On failure prints a line and returns
// false.
bool spinach_program_add(const char *path);

// "0x80001234 <main+0x10> main.c:12" as far as a program given to the machine knows it, of several in one list that
// with the number of the context first (NO_CONTEXT, roles.h: none is first); the caller frees it.
char *spinach_describe_address(int64_t context, uint32_t address);
char *spinach_disassemble(uint32_t pc, uint32_t word);

// The instruction that a program given to the machine has there in its file; false: none has.
bool spinach_program_word(uint32_t pc, uint32_t *word);

#endif
