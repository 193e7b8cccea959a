// States as text for people: --print, and commands that print.
#ifndef SPINACH_PRINT_H
#define SPINACH_PRINT_H

#include "lss/runtime/engine/names.h"

#include <glib.h>

// Finds the states that a name or a pattern means: "cpu[0].fetch.pc", "sram.bytes[0x40..0x7f]", "cpu[*].**.pc".  Adds
// them (spinach_place); on a mistake prints a line and returns false.
bool spinach_print_find(const char *name, GArray *places);

// The name of the elements that are meant: "a.grid", "a.grid[1][2]", "a.bytes[4..7]".  The caller frees it.
char *spinach_place_name(const spinach_place *place);

// Prints "PATH = VALUE", numbers above 65535 and addresses in hexadecimal, and long stretches of bytes as a hexdump.
void spinach_print_state(FILE *out, const spinach_place *place);

#endif
