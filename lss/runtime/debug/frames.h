// What each frame in the machine is doing at this moment (`monitor frames`), from the events since the start of
// history.
//
// A frame is what `spinach frames` takes for one (docs/tracing.md): a stretch of memory between the event that fills it
// and the one that empties it, on the wire in the order of its events, and a handler of it is a function that computed
// an address within it.
#ifndef SPINACH_DEBUG_FRAMES_H
#define SPINACH_DEBUG_FRAMES_H

#include <glib.h>

// Goes back to the start of history, does again what was done, and appends a line for each frame that is there now; the
// run is then where it was.  What has to be recorded for that and is not is added to `wanted`, as --record of the
// compiler has it.
void frames_print(GString *out, GPtrArray *wanted);

#endif
