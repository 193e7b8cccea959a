// The place of a part in its network; see own_part.h.
#include "lss/runtime/engine/own_part.h"

#include "lss/runtime/engine/clocks.h"

static const spinach_machine *const machine = &spinach_machine_table;

static const char *own;
static uint64_t completed;

const char *spinach_own_part(void) {
  return own;
}

void spinach_set_own_part(const char *path) {
  own = path;
}

const char *spinach_side_of(uint32_t instance) {
  for (uint32_t i = 0; i < machine->link_count; i++)
    if (machine->links[i].instance == (int32_t)instance) return machine->links[i].sends ? "in" : "out";
  return NULL;
}

uint64_t spinach_completed(void) {
  return own ? completed : spinach_next_instant();
}

void spinach_set_completed(uint64_t instant) {
  completed = instant;
}

uint64_t spinach_completed_next(void) {
  return own ? spinach_first_edge(completed) : spinach_time.now;
}
