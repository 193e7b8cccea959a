// When a cluster of instances falls asleep: generated code asks after those of its cycles that it watches.
//
// A watched cycle notes what it transfers.  If it transferred nothing, left the states as they were that are compared,
// and no instance acts in the next, then that repeats it, and the cluster sleeps (lss/plan/sleep.c).  A cluster that is
// watched in vain is busy, and is watched less often.
#ifndef LSS_RUNTIME_GATE_H
#define LSS_RUNTIME_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  bool asleep;
  uint8_t missed;       // watched cycles in vain
  uint64_t due;         // cycle of its clock before which it is stepped and not watched; 0 while it sleeps
  uint64_t since, wake; // cycles of its clock: when it fell asleep, when it acts by itself
  uint64_t kept;        // the cycle after which states were kept in the copy
  void *copy;
} spinach_gate;

// A cluster that may sleep, and its clock.
typedef struct {
  spinach_gate *gate;
  int32_t cluster, clock;
} spinach_sleeping;

#define SPINACH_GATE {.kept = UINT64_MAX - 1}

// As when the run began; what the last cycles taught it about trials stays.
static inline void spinach_gate_reset(spinach_gate *gate) {
  gate->asleep = false;
  gate->due = 0;
  gate->kept = UINT64_MAX - 1;
}
bool spinach_gate_missed(spinach_gate *gate);               // false: the cycle was watched in vain
bool spinach_gate_keeps(spinach_gate *gate, size_t size);   // whether the copy holds what was after the last cycle
bool spinach_gate_sleep(spinach_gate *gate, uint64_t wake); // false: it costs more than it saves
void spinach_gate_wake(spinach_gate *gate);

#endif
