// Checkpoints on the way; see saves.h.
#include "lss/runtime/run/saves.h"

#include "lss/runtime/engine/clocks.h"

static uint64_t next = UINT64_MAX;

static const spinach_clock *clock_of(const spinach_options *options) {
  uint32_t count;
  return &spinach_clocks(&count)[options->bounding];
}

// The first one after so many cycles.
static void choose(const spinach_options *options, uint64_t cycles) {
  const uint64_t every = options->checkpoint_every, times = cycles / every + 1;
  next = times <= UINT64_MAX / every ? spinach_instant_after(clock_of(options), times * every) : UINT64_MAX;
}

void spinach_saves_begin(const spinach_options *options) {
  if (options->checkpoint_every) choose(options, spinach_cycles_from(clock_of(options), spinach_time.now));
}

uint64_t spinach_saves_tick(void) {
  return next;
}

bool spinach_saves_due(const spinach_options *options, uint64_t at) {
  if (at < next) return false;
  choose(options, spinach_cycles_from(clock_of(options), at));
  return true;
}
