// A run that is debugged becomes a variant of its simulator (observe/variant.h) on the way, and stays where it is.
//
// The state at the start of history goes to the variant as a checkpoint in memory, and with it all that gdb has set and
// its connection; what was done since is done again there.  So the variant has the past, too, and what is written to
// files goes on where it was.
#ifndef SPINACH_DEBUG_HANDOVER_H
#define SPINACH_DEBUG_HANDOVER_H

#include "lss/runtime/debug/debug.h"

// Builds the variant with these words for `lss build`, too, and runs it in place of this process with `session`;
// `handles` are its open files, and end with -1.  History has begun, and no processor stands still for us.  Returns
// only when that is not possible, with the reason, which the caller frees; the run is then where it was.
char *handover_become(const spinach_options *options, const GPtrArray *words, GVariant *session, const int *handles);

// What this process was given; NULL when it began by itself.  After spinach_debug_adopt().
GVariant *handover_session(void);
// Goes to the instant at which the run was handed over; call when history has begun.
void handover_arrive(void);

#endif
