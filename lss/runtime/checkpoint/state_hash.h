// A hash of the state of all instances, by which two runs or two builds of a machine are compared on the way.
#ifndef SPINACH_STATE_HASH_H
#define SPINACH_STATE_HASH_H

#include "lss/runtime/engine/request.h"

#include <stdbool.h>

// The hash of the present state, at a boundary between instants: 16 hexadecimal digits.  It covers the cycles of all
// clocks and every declared field, not what the build or the process adds.  The caller frees it.
char *spinach_state_hash(void);

// Writes the hash of the present cycle of the run's clock to the file of --state-hashes, once: a line "CYCLE HASH".
// Returns false, and the run has an error, when it cannot.
bool spinach_state_hash_note(const spinach_options *options);
// All are written: the file gets its name.  Prints a line and returns false when one could not be written.
bool spinach_state_hash_end(const char *path);
// Removes what was written.
void spinach_state_hash_abandon(void);

#endif
