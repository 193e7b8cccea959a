// A hash of the state of all instances, by which two runs or two builds of a machine are compared on the way.
#ifndef SPINACH_STATE_HASH_H
#define SPINACH_STATE_HASH_H

#include <stdbool.h>

// The hash of the present state, at a boundary between instants: 16 hexadecimal digits.  It covers the cycles of all
// clocks and every declared field, not what the build or the process adds.  The caller frees it.
char *spinach_state_hash(void);

// Notes the hash of the present cycle of a clock, once.
void spinach_state_hash_note(int clock);
// Writes all that were noted, a line each: "CYCLE HASH".  Prints a line and returns false when it cannot.
bool spinach_state_hash_write(const char *file);

#endif
