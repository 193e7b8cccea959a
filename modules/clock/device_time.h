// Times of devices and networks, in cycles.
#ifndef DEVICE_TIME_H
#define DEVICE_TIME_H

#include <stdint.h>

// Whole cycles, rounded up, of so many parts of a second; `ticks` of the time base are a second, `period` a cycle.
static inline uint64_t device_cycles(uint64_t parts, uint64_t per_second, uint64_t ticks, uint64_t period) {
  const unsigned __int128 each = (unsigned __int128)per_second * period;
  const unsigned __int128 cycles = ((unsigned __int128)parts * ticks + each - 1) / each;
  return cycles > INT64_MAX ? INT64_MAX : (uint64_t)cycles;
}

// The same for counters of 32 bits, which hold it as the longest that they can.
static inline uint32_t device_cycles_32(uint64_t parts, uint64_t per_second, uint64_t ticks, uint64_t period) {
  const uint64_t cycles = device_cycles(parts, per_second, ticks, period);
  return cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)cycles;
}

#endif
