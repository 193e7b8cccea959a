// What differs between two checkpoints of a machine.
#ifndef SPINACH_DIFFERENCE_H
#define SPINACH_DIFFERENCE_H

#include "lss/runtime/engine/request.h"

// Prints a line for each value of the state, and each clock, that differs between options->restore and
// options->compare: its path and both values.  Returns the exit status: 0 when nothing does, 1 when something does, 2
// after a line when one of them cannot be read.
int spinach_checkpoint_compare(spinach_options *options);

#endif
