// The units that may follow a number, and exact reading of decimal numbers.
#ifndef LSS_UNITS_H
#define LSS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { DIM_FREQUENCY, DIM_TIME, DIM_SIZE, DIM_RATE, DIM_FRACTION } Dimension;

typedef struct {
  const char *name;
  Dimension dimension;
  int64_t num, den; // in the dimension's base unit: Hz, s, B, b/s, 1
} UnitOfMeasure;

const UnitOfMeasure *unit_at(unsigned index);         // one after the other; NULL behind the last
const UnitOfMeasure *unit_find(const char *name);     // NULL when there is none
const char *unit_suggestion(const char *name);        // NULL when none is near
const char *dimension_name(Dimension dimension);      // "frequency"
const char *dimension_base_unit(Dimension dimension); // "Hz"
const char *dimension_units(Dimension dimension);     // "Hz, kHz, MHz, GHz"
bool dimension_find(const char *name, Dimension *dimension);

// Rational numbers in lowest terms, den > 0.  False when the result does not fit.
bool rational_normalize(__int128 num, __int128 den, int64_t *out_num, int64_t *out_den);
bool rational_add(int64_t an, int64_t ad, int64_t bn, int64_t bd, int64_t *num, int64_t *den);
bool rational_multiply(int64_t an, int64_t ad, int64_t bn, int64_t bd, int64_t *num, int64_t *den);
int rational_compare(int64_t an, int64_t ad, int64_t bn, int64_t bd);
// Reads "12", "1.5", "2e-3", "0x10"; false when it does not fit.
bool rational_parse(const char *text, int64_t *num, int64_t *den);
// The length of the decimal number, without its unit, that `text` begins with; 0 for none.
size_t decimal_length(const char *text);
// Reads all of `text`, "500 MiB" or "1.5GB", into the dimension's base unit; false when it is no such quantity.
bool quantity_parse(const char *text, Dimension dimension, int64_t *num, int64_t *den);

// "88 MHz": the largest unit in which the quantity is a whole number, or else a fraction of the base unit.
char *quantity_text(Dimension dimension, int64_t num, int64_t den); // in the arena

#endif
