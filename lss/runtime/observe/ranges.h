// Whether a state is one that its modules allow: a state that comes from outside, of a checkpoint or a debugger's user,
// may hold any bits.  A field is to be within the range that its module declares (`uint32 head in 0..depth - 1;`), a
// bool is true or false, an enum one of its values or zero, and a number has no more bits than its type.  Then modules
// look at what relates their fields (`check_state() { … }`).
#ifndef SPINACH_RANGES_H
#define SPINACH_RANGES_H

#include "lss/runtime/engine/machine.h"

// What is wrong with the first field that is not so, "p.head: 9 is outside its range, 0 to 3"; NULL: nothing is.  The
// caller frees it, also below.
char *spinach_ranges_fault(void);

// The same of what modules say of their whole state, whose ranges hold.
char *spinach_relations_fault(void);

// The same of a value that one element of a field is to get.
char *spinach_ranges_value_fault(const spinach_place *place, const void *value);

// For debug builds, after an instant: looks at one instance after the other, and stops the run at one that has broken
// what it declares.
void spinach_ranges_watch(void);

#endif
