// Finds a kernel's banner; see linux_banner.h.
#define _GNU_SOURCE
#include "linux_banner.h"

#include <string.h>

enum { LONGEST = 512 }; // with the names of compiler and linker

static bool is_digit(uint8_t byte) {
  return byte >= '0' && byte <= '9';
}

// What follows "#1", up to the end of the line.
static enum linux_kind kind_of(const uint8_t *line, size_t size) {
  const uint8_t *end = memchr(line, '\n', size < LONGEST ? size : LONGEST);
  const uint8_t *number = end ? memmem(line, (size_t)(end - line), " #", 2) : NULL;
  if (!number) return LINUX_NONE;
  return memmem(number, (size_t)(end - number), " SMP ", 5) ? LINUX_FOR_SEVERAL : LINUX_FOR_ONE;
}

enum linux_kind linux_banner_kind(const uint8_t *bytes, size_t size) {
  static const char title[] = "Linux version ";
  const size_t length = sizeof title - 1;
  for (const uint8_t *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), title, length)); at += length) {
    const size_t rest = size - (size_t)(at - bytes);
    const enum linux_kind kind = rest > length && is_digit(at[length]) ? kind_of(at, rest) : LINUX_NONE;
    if (kind != LINUX_NONE) return kind;
  }
  return LINUX_NONE;
}
