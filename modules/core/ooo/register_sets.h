/* register_sets.h: sets of physical registers; see wide_types.lss. */
#ifndef REGISTER_SETS_H
#define REGISTER_SETS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool register_in(const register_set *set, uint32_t number) {
  return set->of[number >> 6] >> (number & 63) & 1;
}

static inline void register_add(register_set *set, uint32_t number) {
  set->of[number >> 6] |= UINT64_C(1) << (number & 63);
}

static inline bool register_any(const register_set *set) {
  return (set->of[0] | set->of[1]) != 0;
}

#endif
