// What a processor executed, as text: stretches of instructions, and loops of them in each other.
#ifndef SPINACH_STRETCHES_H
#define SPINACH_STRETCHES_H

#include "lss/runtime/cores/cores.h"

#include <glib.h>
#include <stdio.h>

// Instructions one behind the other.
typedef struct {
  uint32_t from, behind;
  uint32_t members; // of the first one of a loop: how many stretches the loop has; else 0
  uint64_t times;   // and how often it was passed
} Stretch;

// Prints them, oldest first, and the latest instructions one by one.  What repeats itself among them is a loop, too;
// one that the first of them begins may have been passed more often, unless they are `whole`, all that there was.
// `core` (may be NULL) has the instructions in its memory; else they are read from the program.
void spinach_print_stretches(FILE *out, const Core *core, const GArray *stretches, bool whole);

#endif
