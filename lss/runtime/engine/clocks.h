// The clocks that users name, and time by them: those of the machine, or in a part of a network those of all parts, so
// that an instant that a clock decides is the same in all of them.
#ifndef SPINACH_CLOCKS_H
#define SPINACH_CLOCKS_H

#include "lss/runtime/engine/machine.h"

// In the order of the machine, or of the whole network.
const spinach_clock *spinach_clocks(uint32_t *count);
void spinach_share_clocks(const spinach_clock *clocks, uint32_t count); // these of all parts, which live on
uint32_t spinach_fastest_of_clocks(void);

// The instant after so many cycles of a clock: all instants before it have to be over for them to be.
uint64_t spinach_instant_after(const spinach_clock *clock, uint64_t cycles);
uint64_t spinach_begin_of(const spinach_clock *clock, uint64_t cycle);      // the instant at which a cycle of it begins
uint64_t spinach_cycles_from(const spinach_clock *clock, uint64_t instant); // cycles that begin before that
uint64_t spinach_first_edge(uint64_t instant); // of any of the clocks, at the instant or after it

#endif
