// Whether a run that nothing bounds can still end, and what is said of one that cannot.
//
// A machine whose instances all say when they act next ends by itself when nothing is left to do (engine.c).  If some
// have no next_event, that is found out here: before each 2^20th cycle the others are asked, and if none of them acts
// by itself, the states of the silent ones are compared before and after a cycle of each clock.  If they stay, and
// their C does not ask for the time, the next cycles are like this one for ever.
//
// What cannot be decided is not: a run that goes on for some seconds without a bound gets a line that says what could
// bound it, what waits, and which instances are silent.  The clock on the wall never ends a run.
#ifndef SPINACH_STANDSTILL_H
#define SPINACH_STANDSTILL_H

#include "lss/runtime/engine/request.h"

enum { STANDSTILL_LOOK = 1 << 20 }; // cycles of the fastest clock between two looks

// Before a run that nobody gives commands to.
void spinach_standstill_begin(const spinach_options *options);
// Cycles of the fastest clock to the next look; UINT64_MAX: there is none.
uint64_t spinach_standstill_distance(void);
// Between two advances: whether nothing can happen any more.
bool spinach_standstill_found(void);
// Says, once in a run, that it goes on without a bound.
void spinach_standstill_note(void);
// Nothing is left to do: the error if something was to happen still, which the caller frees; else NULL, after a note on
// instances that do not say when they act.
char *spinach_standstill_error(const spinach_options *options);

// In a part of a network, where all parts look together: keeps the states of the silent instances, and compares.
void spinach_standstill_keep(void);
bool spinach_standstill_is_same(void);
// Words on a run without progress since an instant, for so many ticks; the caller frees them.
char *spinach_standstill_stuck_text(uint64_t timeout, uint64_t progress);

// Whether a loop that nothing ends is to end the run, too; the error of one of this many cycles of the fastest clock.
bool spinach_standstill_counts(void);
char *spinach_standstill_loop_error(uint64_t cycles);

#endif
