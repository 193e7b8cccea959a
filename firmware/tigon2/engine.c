// A processor's share of the DMA rings when neither the hardware assist nor another processor carries them out: a step
// between any two events.
#include "state.h"

// The working state: each processor that handles events has one at this address.
struct state firmware_state __attribute__((section(".scratchpad.bss")));

SCRATCHPAD_CODE void drive_rings(void) {
  struct registers *r = registers();
  if (state->engine.on & ENGINE_WRITES) engine_write(&state->engine, r);
  if (state->engine.on & ENGINE_READS) engine_read(&state->engine, r);
}
