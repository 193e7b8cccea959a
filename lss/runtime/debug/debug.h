// The debugger's side of a run (--gdb): the run goes when and where gdb wants it to.
#ifndef SPINACH_DEBUG_H
#define SPINACH_DEBUG_H

#include "lss/runtime/engine/request.h"

// A process that goes on with a run that another one debugged (handover.h) begins with its state; call when the
// command line was read.  Prints a line and returns false when it cannot.
bool spinach_debug_adopt(spinach_options *options);
// And takes over its files, after its state.  *tried: it was only to be seen whether that is possible.
bool spinach_debug_take_over(bool *tried);

// Opens the port or socket of options->gdb.  Prints a line and returns false when it cannot.
bool spinach_debug_open(const spinach_options *options);
// Runs to the end, under gdb; returns why it ended.  After an error does not return.
const char *spinach_debug_run(const spinach_options *options);

// Prints commands for gdb-multiarch that connect it to this machine, with all processors and symbols.
void spinach_debug_script(const spinach_options *options);

#endif
