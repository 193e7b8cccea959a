// Names used by mac_receive.c.
#ifndef MAC_RECEIVE_H
#define MAC_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

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
