// A processor's registers as gdb numbers them, and their description.
#ifndef SPINACH_DEBUG_REGISTERS_H
#define SPINACH_DEBUG_REGISTERS_H

#include "lss/runtime/cores/cores.h"

// The target description of a processor; the caller frees it.
char *registers_description(const Core *core);
guint registers_count(const Core *core);
// Appends the value in hexadecimal, in the processor's byte order; x's for a register that the model does not have.
// False when there is no such number.
bool registers_append(const Core *core, guint number, GString *out);
// Sets it; what the model does not have stays as it is.  False when there is no such number.
bool registers_set(const Core *core, guint number, uint32_t value);
// The number of the program counter.
guint registers_pc(const Core *core);
// Eight digits in the processor's byte order; false when they are none.
bool registers_value(const Core *core, const char *digits, uint32_t *value);

#endif
