// Whether a cluster may sleep; see gate.h.
#include "lss/runtime/engine/gate.h"

#include "lss/runtime/engine/leap.h"
#include "lss/runtime/engine/spinach.h"

#include <stdlib.h>

enum { SHORT_SLEEP = 2 };                  // cycles; a shorter one does not pay
enum { MOST_IN_VAIN = 4, MOST_PAUSE = 8 }; // cycles in vain without a pause; the longest pause

bool spinach_gate_missed(spinach_gate *gate) {
  if (gate->missed < MOST_IN_VAIN + MOST_PAUSE) gate->missed++;
  const uint64_t pause = gate->missed > MOST_IN_VAIN ? gate->missed - MOST_IN_VAIN : 0;
  // The machine wants to know of each cycle while it looks for those to leave out.
  gate->due = spinach_leaping.watches ? 0 : spinach_time.cycle + 1 + pause;
  return false;
}

bool spinach_gate_keeps(spinach_gate *gate, size_t size) {
  const bool before = gate->copy && gate->kept + 1 == spinach_time.cycle;
  if (!gate->copy) gate->copy = calloc(size, 1);
  gate->kept = spinach_time.cycle;
  return before;
}

bool spinach_gate_sleep(spinach_gate *gate, uint64_t wake) {
  if (wake <= spinach_time.cycle + SHORT_SLEEP) return spinach_gate_missed(gate);
  gate->asleep = true;
  gate->due = 0;
  gate->since = spinach_time.cycle;
  gate->wake = wake;
  return true;
}

void spinach_gate_wake(spinach_gate *gate) {
  gate->asleep = false;
  if (spinach_time.cycle - gate->since >= SHORT_SLEEP) gate->missed = 0;
}
