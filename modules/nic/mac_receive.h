// Names used by mac_receive.c.
#ifndef MAC_RECEIVE_H
#define MAC_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

// What is offered in a cycle; a set.
enum {
  RECEIVE_OFFERS_MEMORY = 1,
  RECEIVE_OFFERS_DESCRIPTOR = 2,
  RECEIVE_OFFERS_REGISTER = 4,
  RECEIVE_OFFERS_COUNTER = 8
};
// Work pending in the next cycle though nothing moves; a set: storing continues, bytes or a frame left the queue,
// what is sent has changed, mac_state was never observed.
enum { RECEIVE_PENDING_STORING = 1, RECEIVE_PENDING_QUEUE = 2, RECEIVE_PENDING_SHOWN = 4, RECEIVE_PENDING_STATE = 8 };
// Counters of kept frames are updated while others arrive only when there are so many.
enum { RECEIVE_KEPT_THRESHOLD = 64 };

// What the polled registers say in a cycle.
typedef struct {
  uint32_t mac, producer, reference, buffer_producer, buffer_reference, base, limit;
} receive_registers;

// Whom frames are accepted for: all when it is not on; else this station, everybody, and groups by a table of so many
// words.
typedef struct {
  bool on;
  uint64_t station;
  const uint32_t *groups;
  uint32_t words;
} receive_filter;

#endif
