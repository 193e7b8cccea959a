// The descriptors of a process that was forked and is to leave no trace.
#ifndef SPINACH_DETACH_H
#define SPINACH_DETACH_H

#include <glib.h>

// Before the fork: which descriptors there are, and where files that are read are read from.
GArray *detach_note(void);
// In the forked process: files that are read are opened again, so that reading them moves nothing in the other process.
// All others, but for `kept`, lead nowhere: what is written there is lost, and what is read is at its end.
void detach_apply(const GArray *noted, int kept);

#endif
