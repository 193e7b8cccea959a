// How the DMA and MAC assists read and write NIC memory: pieces of a transfer, circular buffers in that memory, the
// byte queue between memory and the outside, and checksums.  Shared by dma_assist and mac_assist; all functions are
// pure or work on what they are given.
#ifndef ASSIST_MEMORY_H
#define ASSIST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// ---- Addresses -----------------------------------------------------------------------------------------------

// A window is a circular buffer in NIC memory: from base up to, not including, limit; limit == base: there is none.

// `address` + `bytes`, wrapped within the window if the address is inside it.  One that is behind the window is far
// from its end as well, counted upwards, so that a single comparison shows nearly always that there is nothing to wrap.
static inline uint32_t assist_advance(uint32_t address, uint32_t bytes, uint32_t base, uint32_t limit) {
  if (__builtin_expect(limit - address > bytes, 1) || address < base || address >= limit) return address + bytes;
  return base + (address - base + bytes) % (limit - base);
}

// `address` rounded up to a multiple of `unit`, within the window if it is inside it.
static inline uint32_t assist_round_up(uint32_t address, int64_t unit, uint32_t base, uint32_t limit) {
  return assist_advance(address, (0u - address) & (uint32_t)(unit - 1), base, limit);
}

// The descriptor behind the one at `address`, in a ring of `ring_size` that is aligned to its size.
static inline uint32_t assist_ring_next(uint32_t address, int64_t descriptor_size, int64_t ring_size) {
  const uint32_t mask = (uint32_t)ring_size - 1;
  return (address & ~mask) | ((address + (uint32_t)descriptor_size) & mask);
}

// Bytes that one request moves: up to the next multiple of `unit`, the end of the window, or what is left.
static inline uint32_t assist_piece(uint32_t unit, uint32_t address, uint32_t left, uint32_t base, uint32_t limit) {
  uint32_t bytes = unit - (address & (unit - 1));
  if (bytes > left) bytes = left;
  if (__builtin_expect(bytes > limit - address, 0) && address >= base && address < limit) bytes = limit - address;
  return bytes;
}

// Bytes from `from` forward to `to` in the window.
static inline uint32_t assist_distance(uint32_t from, uint32_t to, uint32_t base, uint32_t limit) {
  return to >= from ? to - from : to - from + (limit - base);
}

static inline uint32_t assist_min(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// ---- Bytes and numbers ---------------------------------------------------------------------------------------
// Bytes in order are in a uint64_t with the first in bits 7:0; a memory request carries a right-justified number.

static inline uint64_t assist_keep(uint64_t bytes, uint32_t count) {
  return __builtin_expect(count >= 8, 1) ? bytes : bytes & ((UINT64_C(1) << 8 * count) - 1);
}
static inline uint64_t assist_bytes(uint64_t number, uint32_t count, bool big_endian) {
  if (count == 0) return 0;
  return big_endian ? __builtin_bswap64(number << 8 * (8 - count)) : assist_keep(number, count);
}
// Up to 8 bytes in order with those of each whole 32-bit word reversed.
static inline uint64_t assist_swap_words(uint64_t bytes, uint32_t count) {
  if (count < 4) return bytes;
  const uint64_t first = __builtin_bswap32((uint32_t)bytes), second = bytes >> 32;
  return first | (count == 8 ? (uint64_t)__builtin_bswap32((uint32_t)second) : second) << 32;
}
// A 16- or 32-bit field of a descriptor that was read into `raw`.
static inline uint32_t assist_field(const uint8_t *raw, uint32_t at, uint32_t count, bool big_endian) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; i++) value |= (uint32_t)raw[at + i] << 8 * (big_endian ? count - 1 - i : i);
  return value;
}

// ---- Byte queue: `size` bytes, a power of two, at `buffer`; positions count up for ever ------------------------

static inline void assist_queue_put(uint8_t *buffer, uint32_t size, uint32_t position, uint64_t bytes, uint32_t count) {
  uint32_t at = position & (size - 1);
  if (__builtin_expect(at + 8 <= size, 1)) {
    if (count == 8) // mostly; then it is one store
      memcpy(buffer + at, &bytes, 8);
    else
      memcpy(buffer + at, &bytes, count);
  } else {
    for (uint32_t i = 0; i < count; i++) buffer[(at + i) & (size - 1)] = (uint8_t)(bytes >> 8 * i);
  }
}
static inline uint64_t assist_queue_peek(const uint8_t *buffer, uint32_t size, uint32_t position, uint32_t count) {
  uint32_t at = position & (size - 1);
  uint64_t bytes = 0;
  if (__builtin_expect(at + 8 <= size, 1))
    memcpy(&bytes, buffer + at, 8);
  else
    for (uint32_t i = 0; i < 8; i++) bytes |= (uint64_t)buffer[(at + i) & (size - 1)] << 8 * i;
  return assist_keep(bytes, count);
}

// ---- Up to 16 bytes at once, for memories of 128 bits ----------------------------------------------------------

// Up to 16 bytes in order: the first in bits 7:0 of w[0].
typedef struct {
  uint64_t w[2];
} assist_run;

static inline void assist_run_put(uint8_t *buffer, uint32_t size, uint32_t position, uint32_t unit, assist_run run,
                                  uint32_t count) {
  const uint32_t at = position & (size - 1);
  if (unit == 8) {
    assist_queue_put(buffer, size, position, run.w[0], count);
    return;
  }
  if (count == 16 && at + 16 <= size) {
    memcpy(buffer + at, &run, 16);
    return;
  }
  assist_queue_put(buffer, size, position, run.w[0], count < 8 ? count : 8);
  if (count > 8) assist_queue_put(buffer, size, position + 8, run.w[1], count - 8);
}
static inline assist_run assist_run_peek(const uint8_t *buffer, uint32_t size, uint32_t position, uint32_t unit,
                                         uint32_t count) {
  const uint32_t at = position & (size - 1);
  if (unit == 8) return (assist_run){{assist_queue_peek(buffer, size, position, count), 0}};
  if (count == 16 && at + 16 <= size) {
    assist_run whole;
    memcpy(&whole, buffer + at, 16);
    return whole;
  }
  assist_run run = {{assist_queue_peek(buffer, size, position, count < 8 ? count : 8), 0}};
  if (count > 8) run.w[1] = assist_queue_peek(buffer, size, position + 8, count - 8);
  return run;
}

// The same run as a number of a memory request, and back: `swaps` when the first byte is the most significant one.
// `unit` is the width of memory in bytes.
static inline assist_run assist_run_swap(assist_run run, uint32_t unit, uint32_t count, bool swaps) {
  if (!swaps || count == 0) return run;
  if (unit == 8) return (assist_run){{__builtin_bswap64(run.w[0]) >> 8 * (8 - count), 0}};
  if (count == 16) return (assist_run){{__builtin_bswap64(run.w[1]), __builtin_bswap64(run.w[0])}};
  unsigned __int128 whole = (unsigned __int128)__builtin_bswap64(run.w[0]) << 64 | __builtin_bswap64(run.w[1]);
  whole >>= 8 * (16 - count);
  return (assist_run){{(uint64_t)whole, (uint64_t)(whole >> 64)}};
}

// The data of a request or a reply (any number of words) as a run, and back.
static inline assist_run assist_run_of(const void *number, uint32_t number_size) {
  assist_run run = {{0, 0}};
  memcpy(&run, number, number_size < sizeof run ? number_size : sizeof run);
  return run;
}
static inline void assist_run_into(void *number, uint32_t number_size, assist_run run) {
  memcpy(number, &run, number_size < sizeof run ? number_size : sizeof run);
}

// ---- Checksums -----------------------------------------------------------------------------------------------

// The Internet checksum's sum (RFC 1071), not complemented, of a run of bytes that is fed piece by piece: `sum` holds
// 16-bit big-endian words, `odd` whether an odd number of bytes came before.
static inline uint32_t assist_sum(uint32_t sum, bool odd, uint64_t bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++, odd = !odd) sum += (uint32_t)(uint8_t)(bytes >> 8 * i) << (odd ? 0 : 8);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

static inline uint32_t assist_run_sum(uint32_t sum, bool odd, assist_run run, uint32_t count) {
  sum = assist_sum(sum, odd, run.w[0], count < 8 ? count : 8);
  return count > 8 ? assist_sum(sum, odd, run.w[1], count - 8) : sum;
}

#endif
