// A run that goes on by commands from standard input (--interactive): for those without gdb, and for scripts.
#ifndef SPINACH_INTERACTIVE_H
#define SPINACH_INTERACTIVE_H

#include "lss/runtime/engine/request.h"

// With --interactive=json: from here on standard output has the replies alone, and the machine has no standard input.
// Prints a line and returns false when that cannot be.
bool spinach_interactive_open(void);

// Carries out commands until the run ends, or they do; returns why it ended.
const char *spinach_interactive_run(const spinach_options *options);

#endif
