// Instants that are past; see instants.h.
#include "lss/runtime/engine/instants.h"

#include "lss/runtime/engine/flight.h"
#include "lss/runtime/engine/names.h"

#include <stdlib.h>
#include <string.h>

static const spinach_machine *const machine = &spinach_machine_table;

void spinach_clear_all_past(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++) {
      const spinach_field *field = &layout->fields[k];
      if (field->kind != SPINACH_INSTANT) continue;
      const spinach_place place = {(int32_t)i, field, 0, spinach_field_elements(field)};
      for (uint64_t n = 0; n < place.count; n++) spinach_element(&place, n);
    }
  }
}

// ---- Flights

// Turns a ring of elements so that the first one that is held comes first, and clears what is behind those.
static void turn(uint8_t *elements, size_t size, uint32_t slots, const spinach_flight *flight) {
  uint8_t *held = malloc(slots * size);
  if (!held) spinach_fail("out of memory");
  for (uint32_t i = 0; i < flight->held; i++)
    memcpy(held + i * size, elements + (size_t)((flight->head + i) % slots) * size, size);
  memset(held + flight->held * size, 0, (slots - flight->held) * size);
  memcpy(elements, held, slots * size);
  free(held);
}

// The three fields of a flight come one behind the other: its places, the arrivals, the items (flight.h).
static void order_flight(int32_t instance, const spinach_field *field) {
  uint8_t *state = spinach_instance_state(instance);
  spinach_flight *flight = (void *)(state + field->offset);
  const spinach_field *arrivals = field + 1, *items = field + 2;
  const uint32_t slots = arrivals->dimensions[0];
  turn(state + arrivals->offset, sizeof(uint64_t), slots, flight);
  turn(state + items->offset, items->type->size, slots, flight);
  flight->head = 0;
  flight->tail = flight->held == slots ? 0 : flight->held;
}

static bool is_flight(const spinach_field *field) {
  return field->type->kind == SPINACH_STRUCT && !strcmp(field->type->name, "flight.places");
}

void spinach_order_flights(void) {
  for (uint32_t i = 0; i < machine->instance_count; i++) {
    const spinach_layout *layout = machine->instances[i].layout;
    for (uint32_t k = 0; layout && k < layout->field_count; k++)
      if (is_flight(&layout->fields[k])) order_flight((int32_t)i, &layout->fields[k]);
  }
}
