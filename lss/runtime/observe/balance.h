// Balances: identities of statistics, and accounts of the items that modules pass on, which debug builds keep.
#ifndef SPINACH_BALANCE_H
#define SPINACH_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

// The run begins here, or goes on from a state that did not come of what was counted: a restored or an earlier one.
void spinach_balance_begin(void);

// The state was changed by the user, here or before the checkpoint: nothing is compared any more.
void spinach_balance_disturb(void);
bool spinach_balance_is_disturbed(void);

// Compares all between two instants; false, after a line for each that does not hold.
bool spinach_balance_check(void);

// What is wrong with the first comparison (no equality) of an instance's state with itself that does not hold, which
// the caller frees; NULL where all hold.
char *spinach_balance_broken(int32_t instance);

// Notes on modules that say nothing and seem to lose items; at the end of a run.
void spinach_balance_note(void);

#endif
