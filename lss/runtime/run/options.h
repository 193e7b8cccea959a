// The command line of a simulator: read, and checked against the machine.
#ifndef SPINACH_OPTIONS_H
#define SPINACH_OPTIONS_H

#include "lss/runtime/engine/request.h"

// In the simulator of a part: gives everything the names that it has in the part which the command line says.  Before
// the tables are used.  False: after a line.
bool spinach_options_name_part(int argc, char **argv);
// Reads the command line.  On a mistake prints one line and returns false; the exit status is then 2.
bool spinach_options_parse(int argc, char **argv, spinach_options *options);
void spinach_options_clear(spinach_options *options);

#endif
