// Instants, and the cycles of clocks.
//
// An instant is a count of ticks, 64 bits wide.  The compiler chooses the ticks so that a year at least is simulated
// before the last instant (lss/elab/time_base.c).  A run that would reach it ends with an error, so what is computed of
// instants does not wrap: the sum of two still fits, and UINT64_MAX stands for never.
//
// Cycle n of a clock begins in the tick into which n periods fall.  Where the ticks are fine enough for it, that is
// exactly n periods; else the clock is rounded: cycles differ by a tick, and the period is that of the longer ones.
#ifndef SPINACH_CLOCK_H
#define SPINACH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define SPINACH_LAST_INSTANT ((uint64_t)INT64_MAX)
// Seconds after which time ends in any case: nanoseconds fit into 64 bits, too.
#define SPINACH_MOST_SECONDS (UINT64_C(1) << 33)

typedef struct {
  const char *name;
  int64_t num, den; // frequency in Hz
  uint64_t period;  // ticks of a cycle
  bool rounded;     // a tick less in some cycles
} spinach_clock;

// The instant at which a cycle begins; UINT64_MAX when it would be later.
static inline uint64_t spinach_cycle_begins(const spinach_clock *clock, uint64_t ticks_per_second, uint64_t cycle) {
  unsigned __int128 ticks;
  if (!clock->rounded)
    ticks = (unsigned __int128)cycle * clock->period;
  else if (__builtin_mul_overflow((unsigned __int128)cycle * (uint64_t)clock->den, ticks_per_second, &ticks))
    return UINT64_MAX;
  else
    ticks /= (uint64_t)clock->num;
  return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX;
}

// The first cycle that begins at an instant or later.
static inline uint64_t spinach_cycle_from(const spinach_clock *clock, uint64_t ticks_per_second, uint64_t instant) {
  if (!clock->rounded) return instant / clock->period + (instant % clock->period != 0);
  const unsigned __int128 period = (unsigned __int128)ticks_per_second * (uint64_t)clock->den, // times num
      place = (unsigned __int128)instant * (uint64_t)clock->num;
  return (uint64_t)(place / period) + (place % period != 0);
}

#endif
