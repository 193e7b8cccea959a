// Quantities on a simulator's command line: "10 ms", "1.5us", "16 KiB", "1 Gb/s".
#ifndef SPINACH_QUANTITY_H
#define SPINACH_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

// Base units as in module code: Hz, femtoseconds, bytes, bit/s.
typedef enum { SPINACH_FREQUENCY, SPINACH_TIME, SPINACH_SIZE, SPINACH_RATE } spinach_dimension;

// Reads all of `text`, exactly; a number without a unit is refused.  On failure returns false and points *error to
// words, valid until the next call, that say what is wrong and what would be right.
bool spinach_quantity_parse(const char *text, spinach_dimension dimension, int64_t *value, const char **error);

// The value with its largest fitting unit, "16 KiB", into `text`.
void spinach_quantity_print(int64_t value, spinach_dimension dimension, char *text, int size);

#endif
