// Items that were transferred, counted per connection in debug builds, and compared where modules pass them on as they
// are: what leaves has to be what came in.  What items say and events are added up where a balance names them.
#ifndef SPINACH_TALLY_H
#define SPINACH_TALLY_H

#include "lss/runtime/engine/machine.h"

#include <glib.h>

// From here on is counted; what modules hold now is not known.  `inside` says of a balance how many items that may be.
void spinach_tally_begin(int64_t (*inside)(const spinach_balance *balance));

uint64_t spinach_tally_of(uint32_t connection); // items since then

// Looks at what left in the instant that was stepped last; an item that had not come in is an error, which does not
// return.
void spinach_tally_complete(void);

// The elements of a field or of an item, which begins there, that a step adds or counts.
int64_t spinach_sum_elements(const spinach_sum_step *step, const void *first);

// Whether a relation of numbers holds: `=`, `!`, `<`, `>`, `l` for <=, `g` for >=.
bool spinach_sum_holds(char operator, int64_t left, int64_t right);

// What items say, and events, from the last beginning on.
void spinach_tally_weights_begin(void);
void spinach_tally_note(uint32_t connection, const void *item); // an item was transferred
int64_t spinach_tally_sum(const spinach_sum_step *step);
int64_t spinach_tally_of_event(const spinach_sum_step *step);

#endif
