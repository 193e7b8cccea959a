// A flight: items on their way through a crossing, each with the instant at which it arrives.  It is a ring in the
// state, of the places below, the instants (`uint64_t arrives[n]`) and the items (`T item[n]`).  The end `in` of the
// crossing adds items, and the end `out` takes them, in the order in which they were sent.
#ifndef SPINACH_FLIGHT_H
#define SPINACH_FLIGHT_H

#include "lss/runtime/engine/link_end.h"

#include <stdint.h>

// In the simulator of a part of a network: per instance, the number of its first link.
extern const uint32_t spinach_link_of[];

typedef struct {
  uint32_t head; // the first item
  uint32_t tail; // behind the last one
  uint32_t held; // items
  uint32_t pad;
} spinach_flight;

_Noreturn void spinach_flight_full(uint32_t id, const char *flight, uint32_t slots) __attribute__((cold));
_Noreturn void spinach_flight_none(uint32_t id, const char *flight) __attribute__((cold));
_Noreturn void spinach_flight_early(uint32_t id, const char *flight, uint64_t ticks, uint64_t least)
    __attribute__((cold));

// The slot of the next item, which arrives in so many ticks: `least`, or more.
static inline uint32_t spinach_flight_add(spinach_flight *flight, uint32_t slots, uint32_t id, const char *name,
                                          uint64_t ticks, uint64_t least) {
  if (__builtin_expect(ticks < least, 0)) spinach_flight_early(id, name, ticks, least);
  if (__builtin_expect(flight->held == slots, 0)) spinach_flight_full(id, name, slots);
  const uint32_t slot = flight->tail;
  flight->tail = slot + 1 == slots ? 0 : slot + 1;
  flight->held++;
  return slot;
}

// The first item is no longer wanted.  An empty ring begins anew at 0, so that what repeats itself comes to the same
// slots.
static inline void spinach_flight_drop(spinach_flight *flight, uint32_t slots, uint32_t id, const char *name) {
  if (__builtin_expect(!flight->held, 0)) spinach_flight_none(id, name);
  flight->head = flight->head + 1 == slots ? 0 : flight->head + 1;
  if (--flight->held == 0) flight->head = flight->tail = 0;
}

#endif
