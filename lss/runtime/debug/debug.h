// The debugger's side of a run (--gdb): the run goes when and where gdb wants it to.
#ifndef SPINACH_DEBUG_H
#define SPINACH_DEBUG_H

#include "lss/runtime/engine/options.h"

// Opens the port or socket of options->gdb.  Prints a line and returns false when it cannot.
bool spinach_debug_open(const spinach_options *options);
// Runs to the end, under gdb; returns why it ended.  After an error does not return.
const char *spinach_debug_run(const spinach_options *options);
// Those of the run.
const spinach_options *debug_options(void);

// Prints commands for gdb-multiarch that connect it to this machine, with all processors and symbols.
void spinach_debug_script(const spinach_options *options);

#endif
