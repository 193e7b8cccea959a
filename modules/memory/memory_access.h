// How numbers are stored in bytes, for the modules that hold or move memory contents.  Values of bits(n) ports are
// integers up to 64 bits and arrays of 64-bit words above; on the little-endian hosts that simulators run on, byte k of
// either holds bits 8k to 8k+7.
#ifndef MEMORY_ACCESS_H
#define MEMORY_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "simulators run on little-endian hosts");

// The bytes of memory at `from` as a number of `size` bytes, into the low bytes of `value`.
static inline void memory_to_number(void *value, const uint8_t *from, unsigned size, bool big_endian) {
  uint8_t *to = value;
  if (!big_endian) {
    memcpy(to, from, size);
    return;
  }
  for (; size >= 8; size -= 8, to += 8) {
    uint64_t word;
    memcpy(&word, from + size - 8, 8);
    word = __builtin_bswap64(word);
    memcpy(to, &word, 8);
  }
  for (unsigned i = 0; i < size; i++) to[i] = from[size - 1 - i];
}

// The low `size` bytes of a number as they are stored in memory; the same the other way round.
static inline void number_to_memory(uint8_t *to, const void *value, unsigned size, bool big_endian) {
  memory_to_number(to, value, size, big_endian);
}

// The same for numbers of at most 8 bytes, in registers.
static inline uint64_t load_number(const uint8_t *from, unsigned size, bool big_endian) {
  switch (size) {
  case 1: return *from;
  case 2: {
    uint16_t v;
    memcpy(&v, from, 2);
    return big_endian ? __builtin_bswap16(v) : v;
  }
  case 4: {
    uint32_t v;
    memcpy(&v, from, 4);
    return big_endian ? __builtin_bswap32(v) : v;
  }
  case 8: {
    uint64_t v;
    memcpy(&v, from, 8);
    return big_endian ? __builtin_bswap64(v) : v;
  }
  default: {
    uint64_t v = 0;
    memory_to_number(&v, from, size, big_endian);
    return v;
  }
  }
}

static inline void store_number(uint8_t *to, uint64_t value, unsigned size, bool big_endian) {
  switch (size) {
  case 1: *to = (uint8_t)value; break;
  case 2: {
    uint16_t v = big_endian ? __builtin_bswap16((uint16_t)value) : (uint16_t)value;
    memcpy(to, &v, 2);
    break;
  }
  case 4: {
    uint32_t v = big_endian ? __builtin_bswap32((uint32_t)value) : (uint32_t)value;
    memcpy(to, &v, 4);
    break;
  }
  case 8: {
    uint64_t v = big_endian ? __builtin_bswap64(value) : value;
    memcpy(to, &v, 8);
    break;
  }
  default: number_to_memory(to, &value, size, big_endian);
  }
}

// The low 64 bits of a value of `size` bytes.
static inline uint64_t low_number(const void *value, unsigned size) {
  uint64_t number = 0;
  memcpy(&number, value, size < 8 ? size : 8);
  return number;
}

// A number of `size` bytes, at most 8, with its sign extended if `sign`.
static inline uint64_t sign_extended(uint64_t number, uint32_t size, bool sign) {
  int shift = (int)(64 - 8 * size) & 63;
  return sign ? (uint64_t)((int64_t)(number << shift) >> shift) : number;
}

// A number of `size` bytes, 1 to 8, with its sign extended if `sign`: the 8 bytes at `from` can be read, and are
// shifted until only the number is left.
static inline uint64_t load_padded(const uint8_t *from, uint32_t size, bool big_endian, bool sign) {
  uint64_t number;
  memcpy(&number, from, 8);
  const uint32_t shift = (64 - 8 * size) & 63;
  number = big_endian ? __builtin_bswap64(number) : number << shift;
  return sign ? (uint64_t)((int64_t)number >> shift) : number >> shift;
}

// Extends the sign of a number of `size` bytes through the `total` bytes at `value`.
static inline void extend_sign(void *value, unsigned size, unsigned total) {
  uint8_t *bytes = value;
  if (size < total && (bytes[size - 1] & 0x80)) memset(bytes + size, 0xff, total - size);
}

#endif
