// What the simulator of a part knows of its place in a network.  A whole machine has none.
#ifndef SPINACH_OWN_PART_H
#define SPINACH_OWN_PART_H

#include "lss/runtime/engine/machine.h"

// The path of this part; NULL: the machine is whole.
const char *spinach_own_part(void);
void spinach_set_own_part(const char *path);

// Which end of a crossing between two parts an instance is, "in" or "out"; NULL: it is whole.
const char *spinach_side_of(uint32_t instance);

// The state is that of this instant: all before it are over, and no other, and what was sent is where it belongs.  A
// whole machine is always at its next instant.
uint64_t spinach_completed(void);
void spinach_set_completed(uint64_t instant);
// The next instant of any part from there on.
uint64_t spinach_completed_next(void);

#endif
