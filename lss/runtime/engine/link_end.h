// An end of a cut crossing, in the simulator of a part.
//
// Where a network is built in parts, each part is a process of its own, and the crossings between two parts are cut:
// the half around `in` is compiled into the sender's simulator, the half around `out` into the receiver's.  Items go
// from one to the other through a ring in shared memory (../link/ring.h).  The compiler emits one entry for each half.
#ifndef SPINACH_LINK_END_H
#define SPINACH_LINK_END_H

#include <stdbool.h>
#include <stdint.h>

typedef struct spinach_link_end {
  const char *path; // of the crossing and its flight, "cable[0].forth.flying", with the names of the representative
  const char *type; // of the items, as text; both ends have to agree
  bool sends;       // this part has the end `in`; else it has `out`
  uint64_t cut;     // ticks, at least 1: the least from a transfer at `in` to an arrival
  uint32_t item_size, slots; // bytes of an item; items that the flight holds
  int32_t instance;          // with the state of this half
  uint64_t offset;           // of the spinach_flight in that state (flight.h); 0 where this end sends
  const struct spinach_type *item_type;
} spinach_link_end;

// An item leaves over the link of that number, and arrives at `instant`: at least the cut from now.  It is an effect,
// so that what sends is no part of a loop.
void spinach_link_send(uint32_t link, uint64_t instant, const void *item);

#endif
