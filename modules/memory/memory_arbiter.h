// memory_arbiter.h: arbitration policies.  Bit i of `requests` is set when lane i requests; `last` is the lane that was
// served last, -1 at first.  Each returns a lane that requests, or -1 when none does.
#ifndef MEMORY_ARBITER_H
#define MEMORY_ARBITER_H

#include <stdint.h>

// The lowest lane that requests.
static inline int32_t lowest(uint64_t requests) {
  return requests ? __builtin_ctzll(requests) : -1;
}

// The highest lane that requests.
static inline int32_t highest(uint64_t requests) {
  return requests ? 63 - __builtin_clzll(requests) : -1;
}

// The next lane after the last, around the circle: every lane is served within one round.
static inline int32_t round_robin(uint64_t requests, int32_t last) {
  uint64_t after = last < 63 ? requests >> (last + 1) << (last + 1) : 0;
  return lowest(after ? after : requests);
}

// The last lane as long as it requests (so bursts stay whole), else the next around the circle.
static inline int32_t keep_last(uint64_t requests, int32_t last) {
  return last >= 0 && (requests >> last & 1) ? last : round_robin(requests, last);
}

// The last lane for as long as it requests and `served` requests in a row are below `most`, else the next.
static inline int32_t keep_at_most(uint64_t requests, int32_t last, uint32_t served, uint32_t most) {
  return served < most ? keep_last(requests, last) : round_robin(requests, last);
}

#endif
