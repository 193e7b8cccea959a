/* load_store_queue.h: which bytes of a load a store has; see load_store_queue.lss. */
#ifndef LOAD_STORE_QUEUE_H
#define LOAD_STORE_QUEUE_H

#include "core/ooo/issue_queue.h"

/* A store, in the queue or in the buffer behind it. */
struct load_store_bytes {
  uint32_t address, size, value;
};

static inline bool load_store_overlap(const struct load_store_bytes *store, uint32_t address, uint32_t size) {
  return store->address < address + size && address < store->address + store->size;
}

static inline bool load_store_cover(const struct load_store_bytes *store, uint32_t address, uint32_t size) {
  return store->address <= address && address + size <= store->address + store->size;
}

/* What a load reads of a store that covers it. */
static inline uint32_t load_store_value(const struct load_store_bytes *store, uint32_t address, operation control) {
  const uint32_t value = store->value >> 8 * (address - store->address);
  switch (operation_size(control)) {
  case 1: return operation_sign(control) ? (uint32_t)(int8_t)value : (uint8_t)value;
  case 2: return operation_sign(control) ? (uint32_t)(int16_t)value : (uint16_t)value;
  default: return value;
  }
}

#endif
