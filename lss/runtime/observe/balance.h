// Balances: identities of statistics, and accounts of the items that modules pass on, which debug builds keep.
#ifndef SPINACH_BALANCE_H
#define SPINACH_BALANCE_H

#include <stdbool.h>

// The run begins here, or goes on from a state that did not come of what was counted: a restored or an earlier one.
void spinach_balance_begin(void);

// The state was changed by the user: nothing is compared any more.
void spinach_balance_disturb(void);

// Compares all between two instants; false, after a line for each that does not hold.
bool spinach_balance_check(void);

// Notes on modules that say nothing and seem to lose items; at the end of a run.
void spinach_balance_note(void);

#endif
