// Errors of flights; see flight.h.
#include "lss/runtime/engine/flight.h"

#include "lss/runtime/engine/spinach.h"

void spinach_flight_full(uint32_t id, const char *flight, uint32_t slots) {
  spinach_error(id, "%s is full: %u items are on their way, and the oldest is not taken", flight, slots);
}

void spinach_flight_none(uint32_t id, const char *flight) {
  spinach_error(id, "%s is empty: there is no item that flight_drop could remove", flight);
}

void spinach_flight_early(uint32_t id, const char *flight, uint64_t ticks, uint64_t least) {
  spinach_error(id, "an item of %s arrives in %llu ticks; the module declares that it takes %llu or more", flight,
                (unsigned long long)ticks, (unsigned long long)least);
}
