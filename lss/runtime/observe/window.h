// Statistics that a pattern matches: as they are now, or what was counted between two instants, such as a mark and now.
//
// The mark belongs to the user, not to the machine: it stays where it is when the run goes back, also before it.
#ifndef SPINACH_WINDOW_H
#define SPINACH_WINDOW_H

#include "lss/runtime/observe/snapshot.h"

// A window begins now.  Works statistics out in the state, as the others do.
void spinach_window_mark(void);
void spinach_window_forget(void);
bool spinach_window_is_marked(void);

// Those that the pattern matches by the end of the path of their instance, or of their own; "": all.  Adds an entry for
// each to a list that is open in `json`, or without one a line to `out`: of a window of those that have changed, after
// its bounds.  Returns their number.
guint spinach_window_now(const char *pattern, Json *json, GString *out);
guint spinach_window_between(const spinach_snapshot *from, const spinach_snapshot *to, const char *pattern, Json *json,
                             GString *out);
guint spinach_window_since(const char *pattern, Json *json, GString *out); // there is a mark

// For another process that goes on with the run, and back: the mark, or nothing.
#define WINDOW_TYPE "m" SNAPSHOT_TYPE
GVariant *spinach_window_pack(void);
void spinach_window_unpack(GVariant *packed);

#endif
