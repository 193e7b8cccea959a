// line_access.h: what requests do to the bytes of a line that a cache has, for caches that carry them out there.
#ifndef LINE_ACCESS_H
#define LINE_ACCESS_H

#include "memory/memory_access.h"
#include "memory/memory_state.h"

// What a request of `size` bytes reads at `from`, into a value of `wide` bytes; `operand` is the number that it
// brings.
static inline void line_read(void *value, unsigned wide, const uint8_t *from, mem_op op, uint32_t size, bool sign,
                             uint64_t operand, bool big_endian) {
  memset(value, 0, wide);
  memory_to_number(value, from, size, big_endian);
  if (op == mem_op_take_run) {
    const uint64_t run = memory_run_of_ones(low_number(value, size), operand, size);
    memset(value, 0, wide);
    memcpy(value, &run, wide < 8 ? wide : 8);
  } else if (sign) {
    extend_sign(value, size, wide);
  }
}

// Stores at `to` what a request of `size` bytes with the value `data`, of `wide` bytes, writes there: that, or what an
// atomic operation of at most 8 bytes makes of it.  Returns the low 64 bits.
static inline uint64_t line_write(uint8_t *to, mem_op op, const void *data, unsigned wide, uint32_t size,
                                  bool big_endian) {
  const uint64_t operand = low_number(data, wide);
  if (!memory_is_atomic(op)) {
    number_to_memory(to, data, size, big_endian);
    return operand;
  }
  const uint64_t value = memory_modified(op, load_number(to, size, big_endian), operand, size);
  store_number(to, value, size, big_endian);
  return value;
}

#endif
