// load_store_queue.h: which bytes of a load a store has; see load_store_queue.lss.
#ifndef LOAD_STORE_QUEUE_H
#define LOAD_STORE_QUEUE_H

#include "core/ooo/issue_queue.h"

// A store, in the queue or in the buffer behind it.
struct load_store_bytes {
  uint32_t address, size, value;
};

static inline bool load_store_overlap(const struct load_store_bytes *store, uint32_t address, uint32_t size) {
  return store->address < address + size && address < store->address + store->size;
}

static inline bool load_store_cover(const struct load_store_bytes *store, uint32_t address, uint32_t size) {
  return store->address <= address && address + size <= store->address + store->size;
}

// What a load reads of a store that covers it.
static inline uint32_t load_store_value(const struct load_store_bytes *store, uint32_t address, uint32_t size,
                                        bool sign, bool big_endian) {
  const uint32_t first = address - store->address;
  const uint32_t value = store->value >> 8 * (big_endian ? store->size - size - first : first);
  switch (size) {
  case 1: return sign ? (uint32_t)(int8_t)value : (uint8_t)value;
  case 2: return sign ? (uint32_t)(int16_t)value : (uint16_t)value;
  case 3: return value & 0xffffff;
  default: return value;
  }
}

// The bytes of an aligned word from an address to one end of the word: where they begin, and how many.
static inline void load_store_part(word_part part, bool big_endian, uint32_t *address, uint32_t *size) {
  const uint32_t n = *address & 3;
  if ((part == word_part_left) == big_endian) {
    *size = 4 - n;
  } else {
    *size = n + 1;
    *address -= n;
  }
}

// A register of which the left or right part, of so many bytes, is replaced.
static inline uint32_t load_store_merge(word_part part, uint32_t size, uint32_t old, uint32_t value) {
  const uint32_t rest = 8 * (4 - size);
  if (rest == 0) return value;
  return part == word_part_left ? value << rest | (old & ((1u << rest) - 1)) : value | (old & ~0u << 8 * size);
}

#endif
