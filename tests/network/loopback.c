// loopback: linked into the simulator of a part (LSS_CFLAGS="-Wl,FILE.o"), this returns what the part sends to itself.
// Where all parts of a ring are alike, and begin alike, each receives from its neighbour what it sends itself, so that
// one of them runs as in the whole.
#include "lss/runtime/engine/hooks.h"
#include "lss/runtime/engine/machine.h"

#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

static void receive(uint32_t link, uint64_t instant, const void *item) {
  (void)link;
  const spinach_link_end *end = machine->links;
  while (end->sends) end++;
  uint8_t *state = spinach_instance_state(end->instance);
  spinach_flight *flight = (spinach_flight *)(void *)(state + end->offset);
  uint64_t *arrives = (uint64_t *)(void *)(flight + 1);
  uint8_t *items = (uint8_t *)(arrives + end->slots);
  const uint32_t slot = spinach_flight_add(flight, end->slots, (uint32_t)end->instance, end->path, end->cut, end->cut);
  arrives[slot] = instant;
  memcpy(items + (size_t)slot * end->item_size, item, end->item_size);
}

__attribute__((constructor)) static void begin(void) {
  spinach_hooks.send = receive;
}
