// register_sets.h: sets of physical registers, as many words of bits as the machine has registers for; see
// wide_types.lss.
#ifndef REGISTER_SETS_H
#define REGISTER_SETS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool register_in(const uint64_t *set, uint32_t number) {
  return set[number >> 6] >> (number & 63) & 1;
}

static inline void register_add(uint64_t *set, uint32_t number) {
  set[number >> 6] |= UINT64_C(1) << (number & 63);
}

static inline void register_remove(uint64_t *set, uint32_t number) {
  set[number >> 6] &= ~(UINT64_C(1) << (number & 63));
}

static inline bool register_any(const uint64_t *set, int words) {
  uint64_t any = 0;
  for (int k = 0; k < words; k++) any |= set[k];
  return any != 0;
}

#endif
