// Derived statistics: numbers that are worked out of statistics and cycles, at the end of a run or of what was counted
// between two instants.
#ifndef SPINACH_DERIVED_H
#define SPINACH_DERIVED_H

#include "lss/runtime/engine/machine.h"
#include "lss/runtime/text/json.h"

#include <glib.h>

// Appends what all derived statistics are made of, as it is now (double, in the order of their steps).
void spinach_derived_operands(GArray *operands);

// The value of a statistic as it is now; not a number where it divides by 0.
double spinach_derived_value(const spinach_derived *derived);

// Appends the values (double) of what was counted from the operands `before` (NULL: the beginning) to those of `now`.
// Values that have a meaning at their instant alone are those of `now`.
void spinach_derived_values(const GArray *before, const GArray *now, GArray *values);
// The same as the member "derived", a row.  Nothing when none are declared.
void spinach_derived_write(Json *json, const GArray *before, const GArray *now);

#endif
