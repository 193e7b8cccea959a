/* memory_state.h: what a memory notes about the writes of one cycle; see memory_state.c. */
#ifndef MEMORY_STATE_H
#define MEMORY_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum { MEMORY_STATE_MAX_BYTES = 128 }; /* widest reference */

/* What one lane writes: the bytes as they will lie in memory. */
typedef struct {
  uint32_t offset; /* of the first byte in the memory */
  uint32_t size;
  uint32_t tag; /* of the writer */
  uint8_t bytes[MEMORY_STATE_MAX_BYTES];
} memory_written;

static inline bool memory_overlap(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size) {
  return a < b + b_size && b < a + a_size;
}

#endif
