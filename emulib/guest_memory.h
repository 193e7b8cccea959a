// Memory as an interpreter's user provides it.
#ifndef EMULIB_GUEST_MEMORY_H
#define EMULIB_GUEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

// Both functions return false when nothing responds at the address.  size is 1 to 4; values are right-justified numbers
// in the byte order of the processor (when it is big-endian, the first byte is the most significant one).
struct guest_memory {
  void *user;
  bool (*read)(void *user, uint32_t address, unsigned size, uint32_t *value);
  bool (*write)(void *user, uint32_t address, unsigned size, uint32_t value);
};

#endif
