// When a cluster of instances falls asleep: generated code asks after each of its cycles whether to try.
//
// A trial copies the state after one cycle and compares it after the next.  When that changed nothing the cluster
// sleeps; else the next trial waits twice as long.
#ifndef LSS_RUNTIME_GATE_H
#define LSS_RUNTIME_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  bool asleep, tried;
  uint8_t wait, pause;  // cycles until the next step of a trial; cycles between trials
  uint64_t since, wake; // cycles of its clock: when it fell asleep, when it acts by itself
  void *copy;
} spinach_gate;

#define SPINACH_GATE {.wait = 1, .pause = 1}

// Copies the state, or compares it with the copy; `repeats` tells that nothing but the state could make the next cycle
// differ.  True when the cycle changed nothing.
bool spinach_gate_try(spinach_gate *gate, const void *state, size_t size, bool repeats);
bool spinach_gate_sleep(spinach_gate *gate, uint64_t wake); // false: not worth it
void spinach_gate_wake(spinach_gate *gate);

#endif
