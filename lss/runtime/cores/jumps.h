// How a processor came to where it is, from the jumps that its debug view remembers.
#ifndef SPINACH_JUMPS_H
#define SPINACH_JUMPS_H

#include "lss/runtime/engine/machine.h"

#include <stdio.h>

// `history` is a ring of structs with `behind`, the address behind the last instruction before a jump, and `to`; the
// instruction at `pc` was the last one.
void spinach_print_jumps(FILE *out, const spinach_debug_view *view, const spinach_debug_role *history, uint32_t pc);

#endif
