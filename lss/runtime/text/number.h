// Whole numbers in texts that people write: scripts, lists of dependencies, images.
#ifndef SPINACH_NUMBER_H
#define SPINACH_NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// The number from 0 to `limit` that the whole of a text is, in any notation of C; false: it is something else.
static inline bool number_parse(const char *text, uint64_t limit, uint64_t *number) {
  char *end;
  if (!isdigit((unsigned char)text[0])) return false;
  errno = 0;
  *number = strtoull(text, &end, 0);
  return *end == '\0' && errno == 0 && *number <= limit;
}

#endif
