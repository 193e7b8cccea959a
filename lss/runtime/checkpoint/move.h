// The state of another build, or of other parts of a network, into that of this machine: instance by instance, to where
// each is here.  What observers count is not the machine's, and begins at 0.
//
// A crossing between two parts is one instance in a whole machine, and two in the parts, one at each end.  Each end has
// a part of the fields, so they are moved one by one; all other instances have the same layout on both sides.
#ifndef SPINACH_MOVE_H
#define SPINACH_MOVE_H

#include "lss/runtime/checkpoint/sources.h"

// Whether the sources have all clocks and instances of this machine, and a whole machine all of theirs.  On failure
// sets *error: the first difference.
bool move_check(GError **error);

// Moves the state.  Before that, move_check() was satisfied.
bool move_states(GError **error);

// The streams of all sources (OPEN_FILES_TYPE), with the places that they have here.  The caller owns it.
GVariant *move_open_files(void);

#endif
