/* places.h: sets of instructions as bits for their places in the active list; see wide_types.lss. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* The place of an instruction in a list of `entries`, a power of two up to 64. */
static inline uint32_t place_of_age(uint32_t age, uint32_t entries) {
  return age & (entries - 1);
}

static inline uint64_t place_bit(uint32_t age, uint32_t entries) {
  return UINT64_C(1) << place_of_age(age, entries);
}

/* The places of n instructions from an age on. */
static inline uint64_t places_from(uint32_t age, uint32_t n, uint32_t entries) {
  const uint32_t first = place_of_age(age, entries);
  const uint64_t all = entries == 64 ? ~UINT64_C(0) : (UINT64_C(1) << entries) - 1;
  if (n >= entries) return all;
  const uint64_t ones = (UINT64_C(1) << n) - 1;
  return (ones << first | (first ? ones >> (entries - first) : 0)) & all;
}

/* The oldest of some, of which there is one at least, if the oldest of all has the age `head`. */
static inline uint32_t places_oldest(uint64_t set, uint32_t head, uint32_t entries) {
  const uint64_t upper = set & ~UINT64_C(0) << place_of_age(head, entries);
  return (uint32_t)__builtin_ctzll(upper ? upper : set);
}

/* Whether the first is younger than the second. */
static inline bool place_younger(uint32_t age, uint32_t than) {
  return (int32_t)(age - than) > 0;
}

#endif
