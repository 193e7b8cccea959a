// A part that runs without the others, from the records of its links (--replay-links): what others sent comes at the
// same instants, and each item that it sends is compared with the record.
//
// All that was sent before an instant is put into the state when that instant is reached, as in the recorded run, so
// that the state is the same at each instant.  Where the run is in the records follows from two instants, the next one
// and that up to which items are in the state: so it may go back (spinach_hooks.go_back).
#ifndef SPINACH_LINK_ALONE_H
#define SPINACH_LINK_ALONE_H

#include "lss/runtime/link/network.h"

// Reads the records of the links of part `own`, for a run that begins at the instant `begins`.  False: after a line.
bool alone_begin(const Network *network, uint32_t own, const char *folder, uint64_t begins);
// The instant at which the recorded run ended, and why; if the part was killed, the last that it may have come to.
// `*failed`: by an error of this part in the instant before.
uint64_t alone_ends(const char **reason, bool *failed);
// What has come is put into the state; returns the instant before which may be stepped, unless that is `most`.
uint64_t alone_reach(uint64_t now, uint64_t most);
// All that was sent before an instant is put into the state.
void alone_complete(uint64_t until);
// An item is sent over the link of that number in the machine's table.
void alone_send(uint32_t link, uint64_t now, uint64_t arrives, const void *item);
// Whether there are records of all that is sent, and how many items were sent as in these.
bool alone_compares(void);
uint64_t alone_compared(void);

#endif
