// Leaving out cycles in which everything waits: generated code asks after its cycles, and leaps over those before the
// next in which anything happens.
//
// A cycle is repeated by the next when nothing was transferred in it, when it left the state of every instance as it
// was whose module does not say more (lss/plan/leaps.c), and when no instance acts by itself.  Generated code notes
// what the cycles do while it is watched.  While something is found to leave out, it is looked for after every cycle: a
// processor waits for its memory for a few cycles only.  Where it is looked for in vain for long, the machine is busy,
// and it is looked for now and then.
//
// A leap is no idle time of the run, since something waits: it is stepped or not, as is convenient, and counts nowhere.
#ifndef SPINACH_LEAP_H
#define SPINACH_LEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct spinach_leaping {
  uint64_t pause;   // cycles, or instants of several clocks, before the next question
  uint64_t moved;   // a bit for each clock: its last cycle changed something, as far as it is watched
  uint64_t kept;    // a bit for each clock: the states of its instances were kept behind its last cycle
  uint64_t waiting; // when next_event says that it waits: a time far away; 0 where idle time is asked for
  uint64_t target;  // of a leap that a look for idle time interrupts: it goes on from there
  uint32_t missed;  // questions in vain since something was left out
  uint32_t busy;    // who said last that it acts now, by its number at the top: it is asked first
  bool watches;     // what cycles do is noted
  bool waits;       // one of those who were asked waits, so that the machine is not at rest
  bool checks;      // what would be left out is stepped all the same
  ptrdiff_t copies; // of states: how far they are from the arena
};
extern struct spinach_leaping spinach_leaping;

enum { SPINACH_MOST_MISSED = 64, SPINACH_LEAP_PAUSE = 16 };
#define SPINACH_WAITING (UINT64_MAX - 1)

static inline void spinach_leap_refused(void) {
  const bool busy = spinach_leaping.missed >= SPINACH_MOST_MISSED;
  spinach_leaping.pause = busy ? SPINACH_LEAP_PAUSE : 1;
  spinach_leaping.missed += !busy;
  if (busy) spinach_leaping.moved = 0, spinach_leaping.watches = false;
}

static inline void *spinach_leap_copy(void *state) {
  return (uint8_t *)state + spinach_leaping.copies;
}

// Whether a state is as it was when it was kept; else it is kept anew.
static inline bool spinach_stays(void *kept, const void *state, size_t size) {
  if (__builtin_expect(!memcmp(kept, state, size), 1)) return true;
  memcpy(kept, state, size);
  return false;
}

// What a cycle of clock `number` did is known, when it transferred nothing; `stays`: all states are as they were kept.
static inline void spinach_leap_kept(uint32_t number, bool stays) {
  const uint64_t bit = UINT64_C(1) << number;
  if (!stays || !(spinach_leaping.kept & bit)) spinach_leaping.moved |= bit;
  spinach_leaping.kept |= bit;
}

// What the top says of the fastest clock: the cycle in which it acts first.
typedef struct {
  uint64_t (*by)(const void *state);
  uint64_t first;
} spinach_said;

// Asks all others, and leaps, but not over the instant `until`, nor over the end of cycle `end` of `clock`.
void spinach_leap(spinach_said said, int clock, uint64_t end, uint64_t until);
void spinach_leap_reset(void); // the state was changed from outside

// What unchanged() means, by the context of the function that says it.
typedef struct {
  bool unchanged;
} spinach_saying;
extern const spinach_saying spinach_next_event_context; // one for all: nothing is written there

static inline uint64_t spinach_waits(const bool *unchanged) {
  (void)unchanged;
  spinach_leaping.waits = true;
  return spinach_leaping.waiting;
}

#endif
