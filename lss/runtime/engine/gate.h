// When a cluster of instances falls asleep: generated code asks after each of its cycles whether to try.
//
// One word of the state, the witness, is looked at in every cycle: while it changes the cluster is busy.  When it has
// stayed as it was for some cycles the state is copied, and compared after the next cycle.  If that cycle changed
// nothing the cluster sleeps; else the first word that it changed is the new witness.  Trials in vain, and sleeps too
// short to pay for one, make the next trial wait for a longer quiet.
#ifndef LSS_RUNTIME_GATE_H
#define LSS_RUNTIME_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  uint64_t value;        // of the witness
  uint32_t witness;      // where it is in the state
  uint8_t quiet, needed; // cycles for which it has stayed; for how many it has to before a trial
  bool asleep, tried;
  uint64_t since, wake; // cycles of its clock: when it fell asleep, when it acts by itself
  void *copy;
} spinach_gate;

// A cluster that may sleep, and its clock.
typedef struct {
  const spinach_gate *gate;
  int32_t cluster, clock;
} spinach_sleeping;

enum { SPINACH_LEAST_QUIET = 2 };
#define SPINACH_GATE {.needed = SPINACH_LEAST_QUIET}

static inline bool spinach_gate_may_try(spinach_gate *gate, const void *state) {
  uint64_t value;
  memcpy(&value, (const char *)state + gate->witness, sizeof value);
  if (value != gate->value) {
    gate->value = value;
    gate->quiet = 0;
    return __builtin_expect(gate->tried, 0);
  }
  return __builtin_expect(++gate->quiet >= gate->needed, 0);
}

// Copies the state, or compares it with the copy; `repeats` means that nothing but the state could make the next cycle
// differ.  True when the cycle changed nothing.
bool spinach_gate_try(spinach_gate *gate, const void *state, size_t size, bool repeats);
// As when the run began; what the last cycles taught it about trials stays.
static inline void spinach_gate_reset(spinach_gate *gate) {
  gate->asleep = gate->tried = false;
  gate->quiet = 0;
}
bool spinach_gate_sleep(spinach_gate *gate, uint64_t wake); // false: it costs more than it saves
void spinach_gate_wake(spinach_gate *gate);

#endif
