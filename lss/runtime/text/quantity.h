// Numbers with units: "10 ms", "1.5us", "16 KiB", "1 Gb/s".  units.def is the table of the units, of which there is no
// other; numbers are those of number.h.
#ifndef SPINACH_QUANTITY_H
#define SPINACH_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { DIM_FREQUENCY, DIM_TIME, DIM_SIZE, DIM_RATE, DIM_FRACTION, DIMENSIONS } Dimension;

typedef struct {
  const char *name;
  Dimension dimension;
  int64_t num, den; // in the dimension's base unit: Hz, s, B, b/s, 1
  bool preferred;   // where a quantity is printed
} UnitOfMeasure;

const UnitOfMeasure *unit_at(unsigned index);         // one after the other; NULL after the last
const UnitOfMeasure *unit_find(const char *name);     // NULL when there is none
const char *dimension_name(Dimension dimension);      // "frequency"
const char *dimension_base_unit(Dimension dimension); // "Hz"; "" of fractions
const char *dimension_units(Dimension dimension);     // "Hz, kHz, MHz, GHz"
bool dimension_find(const char *name, Dimension *dimension);

// The unit in which to print num / den base units: the largest of which it is a whole number; NULL: of none.
const UnitOfMeasure *quantity_unit(Dimension dimension, int64_t num, int64_t den);

// These read all of `text`, exactly.  On failure they return false and point *error to what is wrong and what would be
// right, in words that are valid until the next call.
//
// As a number of 1/`per` base units, which may be negative: `per` is 10^15 for femtoseconds.
bool quantity_read(const char *text, Dimension dimension, int64_t per, int64_t *value, const char **error);
// The same where 64 bits are not enough, as for the femtoseconds of three hours.
bool quantity_read_wide(const char *text, Dimension dimension, int64_t per, __int128 *value, const char **error);
// As module code has it: in Hz, femtoseconds, B or b/s.
bool quantity_read_base(const char *text, Dimension dimension, int64_t *value, const char **error);
// The nearest number of base units.
bool quantity_read_real(const char *text, Dimension dimension, double *value, const char **error);

// A quantity as module code has it, with the unit of quantity_unit(), "16 KiB", into `text`.
void quantity_print(int64_t value, Dimension dimension, char *text, int size);

enum { QUANTITY_TEXT = 40 }; // room for it

#define QUANTITY_FEMTO INT64_C(1000000000000000) // femtoseconds of a second

#endif
