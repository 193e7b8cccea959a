// The one reader of numbers that people write: in LSS, on command lines, in conditions, scripts, traces and values.
//
// Decimal, "250", "1_000", "2.5", "1e6", where a leading zero means nothing; hexadecimal "0x40" and binary "0b101".
// Where a whole number is wanted, "1e6" and "2.5e3" are whole numbers.  docs/language.md, section 2, is the reference;
// harness/quantity.py reads the same.
#ifndef SPINACH_NUMBER_H
#define SPINACH_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The length of the number, without sign and unit, that `text` begins with; 0 for none.
size_t number_length(const char *text);

// An exact number of that length in lowest terms; false: numerator or denominator needs more than 63 bits.
bool number_exact(const char *text, size_t length, int64_t *num, int64_t *den);
// The nearest floating-point number; false: it is too large.
bool number_nearest(const char *text, size_t length, double *value);

typedef enum { NUMBER_FINE, NUMBER_NONE, NUMBER_FRACTION, NUMBER_LARGE } NumberFault;

typedef struct {
  bool negative, pattern; // pattern: it was written in hexadecimal or binary
  uint64_t magnitude;
} WholeNumber;

// Takes the whole number that *text begins with, perhaps after a minus, off it.  No letter or digit may follow it. With
// a fault, *text stays where it is.
NumberFault number_take(const char **text, WholeNumber *number);
// As a signed integer.  A hexadecimal or binary number is a bit pattern: 0xffffffffffffffff is -1.  False: too large.
bool number_signed(const WholeNumber *number, int64_t *value);
// The same for numbers from 0 to `limit`; false: it is something else, and *text stays where it is.
bool number_take_count(const char **text, uint64_t limit, uint64_t *number);

// The number from 0 to `limit` that the whole of a text is; false: it is something else.
bool number_parse(const char *text, uint64_t limit, uint64_t *number);

// These read all of a text, blanks around it aside.  On failure they return false and point *error to what is wrong,
// such as: "1x" is not a whole number.  The words are valid until the next call.
bool number_read_integer(const char *text, int64_t *value, const char **error);
bool number_read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value, const char **error);
bool number_read_real(const char *text, double *value, const char **error);

#endif
