// Trials whether a cluster may sleep; see gate.h.
#include "lss/runtime/engine/gate.h"

#include "lss/runtime/engine/spinach.h"

#include <stdlib.h>

enum { MOST_QUIET = 8, SHORT_SLEEP = 2 }; // cycles; a sleep shorter than the last does not pay for its trial

static void need_more(spinach_gate *gate) {
  gate->quiet = 0;
  if (gate->needed < MOST_QUIET) gate->needed++;
}

static uint32_t first_difference(const char *a, const char *b, size_t size) {
  size_t at = 0;
  while (at + sizeof(uint64_t) < size && memcmp(a + at, b + at, sizeof(uint64_t)) == 0) at += sizeof(uint64_t);
  return (uint32_t)(at + sizeof(uint64_t) <= size ? at : size - sizeof(uint64_t));
}

bool spinach_gate_try(spinach_gate *gate, const void *state, size_t size, bool repeats) {
  if (!gate->tried) {
    gate->quiet = 0;
    if (size < sizeof gate->value || (!gate->copy && !(gate->copy = malloc(size)))) return false;
    memcpy(gate->copy, state, size);
    gate->tried = true;
    gate->quiet = MOST_QUIET;
    return false;
  }
  gate->tried = false;
  if (repeats && memcmp(gate->copy, state, size) == 0) return true;
  if (repeats) {
    gate->witness = first_difference(gate->copy, state, size);
    memcpy(&gate->value, (const char *)state + gate->witness, sizeof gate->value);
  }
  need_more(gate);
  return false;
}

bool spinach_gate_sleep(spinach_gate *gate, uint64_t wake) {
  if (wake <= spinach_time.cycle + SHORT_SLEEP) {
    need_more(gate);
    return false;
  }
  gate->asleep = true;
  gate->since = spinach_time.cycle;
  gate->wake = wake;
  return true;
}

void spinach_gate_wake(spinach_gate *gate) {
  gate->asleep = false;
  gate->quiet = 0;
  if (spinach_time.cycle - gate->since < SHORT_SLEEP)
    need_more(gate);
  else
    gate->needed = SPINACH_LEAST_QUIET;
}
