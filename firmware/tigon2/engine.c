/* A processor's share of the DMA rings when neither the hardware assist nor another processor carries them out: a step
 * between any two events.
 */
#include "hot.h"

/* The working state: each processor that handles events has one at this address. */
struct hot hot_state __attribute__((section(".hot.bss")));

HOT void drive_rings(void) {
  struct registers *r = registers();
  if (hot->engine.on & ENGINE_WRITES) engine_write(&hot->engine, r);
  if (hot->engine.on & ENGINE_READS) engine_read(&hot->engine, r);
}
