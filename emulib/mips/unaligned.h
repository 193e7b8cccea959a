// The halves of an unaligned word: what lwl, lwr, swl and swr do, for every interpreter.  Plain C, nothing to link.
#ifndef EMULIB_MIPS_UNALIGNED_H
#define EMULIB_MIPS_UNALIGNED_H

#include <stdbool.h>
#include <stdint.h>

// The bytes that lwl/swl (left) and lwr/swr (right) touch in the word around an address: first byte and count.
static inline void mips_unaligned_part(bool big_endian, bool left, uint32_t address, uint32_t *first, unsigned *count) {
  unsigned offset = address & 3;
  if (left == big_endian) {
    *first = address;
    *count = 4 - offset;
  } else {
    *first = address & ~3u;
    *count = offset + 1;
  }
}

// A register that lwl or lwr has loaded `count` bytes into.
static inline uint32_t mips_unaligned_loaded(bool left, unsigned count, uint32_t old, uint32_t value) {
  unsigned rest = 32 - 8 * count; // bits of the register that stay
  uint32_t keep = rest == 0 ? 0 : left ? (1u << rest) - 1 : ~0u << (32 - rest);
  return (old & keep) | (left ? value << rest : value);
}

// The bytes of a register that swl or swr stores, as a number of `count` bytes.
static inline uint32_t mips_unaligned_stored(bool left, unsigned count, uint32_t value) {
  if (left) value >>= 32 - 8 * count;
  return count < 4 ? value & ((1u << 8 * count) - 1) : value;
}

#endif
