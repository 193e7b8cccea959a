// What a command is doing, for people who wait: once it has run for two seconds a line on standard error, which a
// terminal rewrites; into a file or pipe one every ten seconds.  A thread shows it, so that no stage need look at the
// time.  LSS_PROGRESS=SECONDS in the environment: after that many instead; off: none.
#ifndef LSS_WORKING_H
#define LSS_WORKING_H

#include <glib.h>
#include <stdbool.h>

// Before this nothing is shown: a command of a person, not a server's, begins.  False, with an error, when LSS_PROGRESS
// is no such number.
bool working_enable(void);
// A stage begins, and the one before is over: its title, such as "compiling"; what its parts are, "units", or NULL;
// and how many there are, 0 where that is not known.
void working_begin(const char *title, const char *parts, guint total);
// One part is done; from any thread.
void working_step(void);
// The same of a part with a name, which the line shows meanwhile: it stays the caller's, and begins and is done once.
void working_part_begin(const char *name);
void working_part_done(const char *name);
// The stage is over; the line goes.  Ahead of any other line on standard error.
void working_end(void);

#endif
