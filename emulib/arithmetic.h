// Integer arithmetic as MIPS defines it, in terms that C defines too: overflow, shifts, division.  Used by the
// interpreter's bodies, and by whatever else needs the same results.  Plain C, nothing to link.
#ifndef EMULIB_ARITHMETIC_H
#define EMULIB_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

static inline bool add_overflows(uint32_t a, uint32_t b) {
  return (~(a ^ b) & (a ^ (a + b))) >> 31;
}
static inline bool sub_overflows(uint32_t a, uint32_t b) {
  return ((a ^ b) & (a ^ (a - b))) >> 31;
}

static inline uint32_t shift_right_arithmetic(uint32_t a, unsigned n) {
  return (uint32_t)((int64_t)(int32_t)a >> n);
}

// MIPS leaves HI and LO undefined after a division by zero.  Here they are what a restoring divider leaves: the
// quotient all ones (one, for a negative signed dividend), the remainder the dividend.
static inline uint32_t quotient_unsigned(uint32_t n, uint32_t d) {
  return d == 0 ? ~0u : n / d;
}
static inline uint32_t remainder_unsigned(uint32_t n, uint32_t d) {
  return d == 0 ? n : n % d;
}
static inline uint32_t quotient_signed(uint32_t n, uint32_t d) {
  if (d == 0) return (int32_t)n < 0 ? 1u : ~0u;
  return (uint32_t)((int64_t)(int32_t)n / (int32_t)d);
}
static inline uint32_t remainder_signed(uint32_t n, uint32_t d) {
  if (d == 0) return n;
  return (uint32_t)((int64_t)(int32_t)n % (int32_t)d);
}

// Zeros above the highest bit that is set: 32 if none is.
static inline uint32_t leading_zeros(uint32_t bits) {
  return bits == 0 ? 32u : (uint32_t)__builtin_clz(bits);
}

static inline uint32_t rotate_right(uint32_t a, unsigned n) {
  return n == 0 ? a : a >> n | a << (32 - n);
}

// `size` bits of a, from bit `position` on; `b` with as many lowest bits of a in that place.
static inline uint32_t field_mask(unsigned size) {
  return size < 32 ? (1u << size) - 1 : ~0u;
}
static inline uint32_t extract_field(uint32_t a, unsigned position, unsigned size) {
  return a >> position & field_mask(size);
}
static inline uint32_t insert_field(uint32_t a, uint32_t b, unsigned position, unsigned size) {
  return (b & ~(field_mask(size) << position)) | (a & field_mask(size)) << position;
}

static inline uint32_t swap_bytes_in_halves(uint32_t a) {
  return (a & 0x00ff00ff) << 8 | (a >> 8 & 0x00ff00ff);
}

static inline uint64_t product_signed(uint32_t a, uint32_t b) {
  return (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
}
static inline uint64_t product_unsigned(uint32_t a, uint32_t b) {
  return (uint64_t)a * b;
}

// One plus the index of the highest bit set, 0 if none: a priority encoder.
static inline uint32_t priority(uint32_t bits) {
  return bits == 0 ? 0 : 32u - (uint32_t)__builtin_clz(bits);
}

#endif
