// memory_state.h: what a memory notes about the writes of one cycle, and what operations make of a number; see
// memory_state.c.
#ifndef MEMORY_STATE_H
#define MEMORY_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum { MEMORY_STATE_MAX_BYTES = 128 }; // widest request

// What one lane writes: the bytes as they will be in memory.
typedef struct {
  uint32_t offset; // of the first byte in the memory
  uint32_t size;
  uint32_t tag; // of the writer
  uint8_t bytes[MEMORY_STATE_MAX_BYTES];
} memory_written;

// Whether two stretches of a memory, at most 2 GiB, have a byte in common.
static inline bool memory_overlap(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size) {
  return a < b + b_size && b < a + a_size;
}

// A number of `size` bytes read at `offset`, with the bytes replaced that a write of another number at `at` covers.
static inline uint64_t memory_merge(uint64_t number, uint32_t offset, uint32_t size, uint64_t written, uint32_t at,
                                    uint32_t written_size, bool big_endian) {
  for (uint32_t k = 0; k < size; k++) {
    uint32_t from = offset + k - at;
    if (from >= written_size) continue;
    uint32_t to_shift = 8 * (big_endian ? size - 1 - k : k),
             from_shift = 8 * (big_endian ? written_size - 1 - from : from);
    number = (number & ~(UINT64_C(0xff) << to_shift)) | ((written >> from_shift & 0xff) << to_shift);
  }
  return number;
}

// A number of `count` ones, 0 to 64.
static inline uint64_t memory_ones(uint64_t count) {
  return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

// The length of the run of ones that begins at bit `first` of a number of `size` bytes.
static inline uint64_t memory_run_of_ones(uint64_t number, uint64_t first, uint32_t size) {
  if (first >= 8 * size) return 0;
  uint64_t zeros = ~(number >> first);
  return zeros ? (uint64_t)__builtin_ctzll(zeros) : 64;
}

// Whether an operation reads, and can write nothing.
static inline bool memory_only_reads(mem_op op) {
  return op == mem_op_read || op == mem_op_load_linked;
}

// Whether an operation reads a number and writes what it makes of it.
static inline bool memory_is_atomic(mem_op op) {
  return (op >= mem_op_swap && op <= mem_op_fetch_or) || op == mem_op_take_run;
}

// What such an operation makes of a number of `size` bytes.
static inline uint64_t memory_modified(mem_op op, uint64_t number, uint64_t operand, uint32_t size) {
  switch (op) {
  case mem_op_swap: return operand;
  case mem_op_fetch_add: return number + operand;
  case mem_op_fetch_and: return number & operand;
  case mem_op_take_run: return number & ~(memory_ones(memory_run_of_ones(number, operand, size)) << (operand & 63));
  default: return number | operand;
  }
}

// A file of initial contents, and where its window begins.
struct memory_image {
  const char *path;
  uint64_t window;
};

#endif
