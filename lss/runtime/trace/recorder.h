// Recording: the events that this machine was built to record go into a file (--record, --record-events, --record-from,
// --record-to; docs/tracing.md).
#ifndef SPINACH_RECORDER_H
#define SPINACH_RECORDER_H

#include "lss/runtime/engine/request.h"

// Whether this machine was built to record it.
bool spinach_recorder_can(const char *what);

// Adds the words for `lss build` that let this machine record what is asked of it, and what it cannot record yet.
void spinach_recorder_add_words(const spinach_options *options, GPtrArray *words);

// Begins to write the file, after spinach_start() and after a restore.  On failure prints a line and returns false.
bool spinach_recorder_begin(const spinach_options *options);

// In place of a file, somebody in this process looks at the records, and owns the block (record.h): `full` makes room
// in it.  Returns all sources (TraceSource); NULL, after a line, when there are too many.
GArray *spinach_recorder_listen(void (*full)(void));

// Begins or ends to record events, when a condition says so; call between instants.
void spinach_recorder_look(void);

// No more events are recorded: what comes is the end of the run.
void spinach_recorder_stop(void);

// In a forked process, which has neither the thread that writes nor anything to record.
void spinach_recorder_detach(void);

// Ends the file, which gets its name if all of it could be written.  False, after a line, when it could not, or when
// what was to begin never did.
bool spinach_recorder_end(void);

#endif
