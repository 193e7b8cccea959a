// What a run writes down on its way: all statistics at both ends of a window, and in a series (--measure-from,
// --measure-to, --sample), and when it ends (--until).
//
// A snapshot is taken between two instants: after the step of the one in which its condition came true, before that of
// the next, whose time it bears; one on a time bears this time.  So what it counts is exactly what happened before, in
// every build, whether idle time was skipped or not.
//
//   "measured": {"from": SNAPSHOT, "to": SNAPSHOT}     null where the run ended before
//   "samples":  [SNAPSHOT]
//   SNAPSHOT =  {"time_fs", "cycles": {clock: n}, "events": {those of conditions: n},
//                "values":      [as "statistics" has them],
//                "derived":     [as "derived" has them]                           (when any are declared),
//                "connections": [[transferred, stalled, cancelled, idle]]         (when they were collected)}
//
// Derived values are those of what was counted since the snapshot before: in the window, since the last sample, of the
// first one since the run began.
#ifndef SPINACH_MEASURE_H
#define SPINACH_MEASURE_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/observe/series.h"
#include "lss/runtime/observe/trigger.h"

// Starts to wait for the conditions.  On a window that cannot be prints a line and returns false.
bool spinach_measure_begin(const spinach_options *options);

// What a checkpoint keeps of all this.
#define MEASURE_TYPE "(" TRIGGER_TYPE TRIGGER_TYPE TRIGGER_TYPE TRIGGER_TYPE "a" SNAPSHOT_TYPE SERIES_TYPE ")"
GVariant *spinach_measure_pack(void);

// The run goes on from a checkpoint: with the conditions that it had, in the `same` build, as if there had been no
// break; of other conditions, what is over is not waited for.  Prints a line and returns false when an end of the
// window is over.
bool spinach_measure_resume(GVariant *packed, bool same);

// Takes the snapshots that are due; call between instants.  Returns why the run ends, or NULL.
const char *spinach_measure_look(void);

// Begins an advance (machine.h) that ends before, or after the instant in which, one of them may come true; before the
// instant `until` in any case.
void spinach_measure_advance(const spinach_options *options, struct spinach_slice slice, uint64_t until);

// Takes the snapshots of the end of the run.  On a window that did not come to be prints a line and returns false.
bool spinach_measure_end(const char *ended);

// Prints what was counted in the window, if there was one.
void spinach_measure_table(FILE *out);

// The member "measured" of the object of statistics; nothing when it was not asked for.
void spinach_measure_write(Json *json);
// Whether it has "samples" (series.h).
bool spinach_measure_samples(void);

#endif
