// Items that were transferred, counted per connection in debug builds, and compared where modules pass them on as they
// are: what leaves has to be what came in.
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

#endif
