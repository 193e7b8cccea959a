// Trials whether a cluster may sleep; see gate.h.
#include "lss/runtime/gate.h"

#include "lss/runtime/spinach.h"

#include <stdlib.h>

enum { LONGEST_PAUSE = 64, SHORT_SLEEP = 3 }; // cycles; a sleep that is shorter does not pay for the trial

static void wait_longer(spinach_gate *gate) {
  gate->pause = gate->pause < LONGEST_PAUSE ? (uint8_t)(2 * gate->pause) : LONGEST_PAUSE;
  gate->wait = gate->pause;
}

bool spinach_gate_try(spinach_gate *gate, const void *state, size_t size, bool repeats) {
  if (!gate->tried) {
    gate->wait = 1;
    if (!gate->copy && !(gate->copy = malloc(size ? size : 1))) return false;
    memcpy(gate->copy, state, size);
    gate->tried = true;
    return false;
  }
  gate->tried = false;
  if (!repeats || memcmp(gate->copy, state, size) != 0) {
    wait_longer(gate);
    return false;
  }
  return true;
}

bool spinach_gate_sleep(spinach_gate *gate, uint64_t wake) {
  if (wake <= spinach_time.cycle + SHORT_SLEEP) {
    wait_longer(gate);
    return false;
  }
  gate->asleep = true;
  gate->since = spinach_time.cycle;
  gate->wake = wake;
  return true;
}

void spinach_gate_wake(spinach_gate *gate) {
  gate->asleep = false;
  if (spinach_time.cycle - gate->since < SHORT_SLEEP)
    wait_longer(gate);
  else
    gate->wait = gate->pause = 1;
}
