// A run that goes on by commands: until the goal of one is reached, the run ends, or a signal ends the command.
#ifndef SPINACH_GOAL_H
#define SPINACH_GOAL_H

#include "lss/runtime/cores/cores.h"
#include "lss/runtime/engine/request.h"

// What ends one command that goes on; the cycles are of the clock that bounds the run.
typedef struct {
  uint64_t cycles, tick;          // UINT64_MAX: no bound
  const spinach_condition *state; // that comes true, or NULL
  const Core *core;               // whose instructions are counted, or NULL
  int64_t retired;                // the count to get to
  int watch;                      // of the event that is counted, or -1
  uint64_t happened;              // the count to get to
} Goal;

Goal goal_endless(void); // without a bound

// The run of these options, which is not over.
void goal_begin(const spinach_options *options);
// Goes on to the goal.  Afterwards goal_ended() says whether and why the run is over; NULL: it is not.
void goal_go(const Goal *goal);
const char *goal_ended(void);
// The user ends the run; it ends at a bound that it has just reached.
void goal_quit(void);

// Whether a line of the trace follows each instant.
void goal_trace(bool wanted);

// Cycles of the fastest clock per second of the host while the latest command went on; negative: none did.
double goal_speed(void);

#endif
