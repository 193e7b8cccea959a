// Whole loops: a machine that does again what it did is not stepped, nor looked up, but taken on by many loops at once.
//
// The step of a machine is a function of its state and of the time.  Where its state is what it was some whole periods
// of all clocks ago, instants and stamps that were set meanwhile moved by that time, and nothing that happened in
// between depends on the time otherwise, the machine goes on repeating itself: n loops change counters by n times what
// one did, move instants by n loops, and leave the rest.  Two loops are compared, so that counters are known to grow
// evenly.
//
// What depends on the time is noticed while the second loop is stepped, by a version of the root's step with words of
// its own (tracking.h).  What is tested for having come, and has not, bounds the skip when the loop does not move it;
// so does the wake of a cluster that sleeps.  What asks for the time itself, stores in a memory, or does anything
// beside changing state ends the attempt.
//
// Where to look: every time all clocks have an edge together, when all clusters are replayed or asleep, their nodes are
// hashed; a hash that was there before says how long a loop may be.
#ifndef LSS_RUNTIME_REPEATS_H
#define LSS_RUNTIME_REPEATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void spinach_repeats_begin(void);       // before the run: counts loops from here on, where the machine can be tracked
uint64_t spinach_repeats_endless(void); // ticks of the loop that nothing ends, in which the run stays; 0: there is none
uint64_t spinach_repeats_period(void);  // ticks of the latest loop
uint64_t spinach_repeats_ticks(void);   // of all that was not stepped
void spinach_repeats_report(FILE *out);

// What the tracked step asks for.
bool spinach_tracked_passed(const uint64_t *stamp, uint64_t k, uint64_t now, uint64_t unit);
uint64_t spinach_tracked_elapsed(const uint64_t *stamp, uint64_t now);
uint64_t spinach_tracked_until(const uint64_t *instant);
bool spinach_tracked_within(const uint64_t *instant, uint64_t k);
bool spinach_tracked_due(uint64_t instant);
bool spinach_tracked_is(uint64_t instant, uint64_t coming, uint64_t unit);
uint64_t spinach_tracked_modulo(uint64_t n);
void spinach_tracked_file(void); // a file is read or written

#endif
