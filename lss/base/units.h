// Quantities in the compiler: exact rational numbers, suggestions for units that there are not.  The units themselves
// and the reader are shared with the runtime.
#ifndef LSS_UNITS_H
#define LSS_UNITS_H

#include "lss/runtime/text/number.h"
#include "lss/runtime/text/quantity.h"

const char *unit_suggestion(const char *name); // NULL when none is near

// Rational numbers in lowest terms, den > 0.  False when the result does not fit.
bool rational_normalize(__int128 num, __int128 den, int64_t *out_num, int64_t *out_den);
bool rational_add(int64_t an, int64_t ad, int64_t bn, int64_t bd, int64_t *num, int64_t *den);
bool rational_multiply(int64_t an, int64_t ad, int64_t bn, int64_t bd, int64_t *num, int64_t *den);
int rational_compare(int64_t an, int64_t ad, int64_t bn, int64_t bd);

// "88 MHz": the largest unit in which the quantity is a whole number, or else a fraction of the base unit.
char *quantity_text(Dimension dimension, int64_t num, int64_t den); // in the arena

#endif
