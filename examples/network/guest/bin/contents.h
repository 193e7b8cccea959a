// What the server sends and the clients expect: the bytes of a file are the first so many of one sequence.
#ifndef CONTENTS_H
#define CONTENTS_H

#include <stddef.h>
#include <stdint.h>

enum { CONTENTS_MOST = 9 * 102400 };

static inline void contents_write(uint8_t *bytes, size_t count) {
  uint32_t value = 1;
  for (size_t i = 0; i < count; i++) {
    value = value * 1664525 + 1013904223;
    bytes[i] = (uint8_t)(value >> 24);
  }
}

#endif
