// Whole numbers in texts that people write: scripts, lists of dependencies, images.
#ifndef SPINACH_NUMBER_H
#define SPINACH_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

// The number from 0 to `limit` that the whole of a text is, in any notation of C; false: it is something else.
bool number_parse(const char *text, uint64_t limit, uint64_t *number);

#endif
