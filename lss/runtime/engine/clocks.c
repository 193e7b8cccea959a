// Clocks that users name; see clocks.h.
#include "lss/runtime/engine/clocks.h"

static const spinach_machine *const machine = &spinach_machine_table;

static const spinach_clock *shared_clocks;
static uint32_t shared_clock_count;

void spinach_share_clocks(const spinach_clock *clocks, uint32_t count) {
  shared_clocks = clocks;
  shared_clock_count = count;
}

const spinach_clock *spinach_clocks(uint32_t *count) {
  *count = shared_clocks ? shared_clock_count : machine->clock_count;
  return shared_clocks ? shared_clocks : machine->clocks;
}

uint32_t spinach_fastest_of_clocks(void) {
  uint32_t count, fastest = 0;
  const spinach_clock *clocks = spinach_clocks(&count);
  for (uint32_t i = 1; i < count; i++)
    if (clocks[i].period < clocks[fastest].period) fastest = i;
  return fastest;
}

uint64_t spinach_instant_after(const spinach_clock *clock, uint64_t count) {
  const uint64_t last = count ? spinach_cycle_begins(clock, machine->ticks_per_second, count - 1) : 0;
  return !count ? 0 : last < UINT64_MAX ? last + 1 : UINT64_MAX;
}

uint64_t spinach_begin_of(const spinach_clock *clock, uint64_t cycle) {
  return spinach_cycle_begins(clock, machine->ticks_per_second, cycle);
}

uint64_t spinach_first_edge(uint64_t instant) {
  uint32_t count;
  uint64_t first = UINT64_MAX;
  const spinach_clock *clocks = spinach_clocks(&count);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t edge = spinach_begin_of(&clocks[i], spinach_cycles_from(&clocks[i], instant));
    if (edge < first) first = edge;
  }
  return first;
}

uint64_t spinach_cycles_from(const spinach_clock *clock, uint64_t instant) {
  return spinach_cycle_from(clock, machine->ticks_per_second, instant);
}
