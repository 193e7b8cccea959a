// The command line of a simulator: read, and checked against the machine.
#ifndef SPINACH_OPTIONS_H
#define SPINACH_OPTIONS_H

#include "lss/runtime/engine/request.h"

// Reads the command line.  On a mistake prints one line and returns false; the exit status is then 2.
bool spinach_options_parse(int argc, char **argv, spinach_options *options);
void spinach_options_clear(spinach_options *options);

// Whether a parameter is the machine's own timeout: a top-level one of type time called `watchdog`, for the engine
// alone.
bool spinach_is_watchdog(const spinach_parameter *parameter);

#endif
