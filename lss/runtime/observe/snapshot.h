// What is written down of a run at an instant: all that is counted so far.
#ifndef SPINACH_SNAPSHOT_H
#define SPINACH_SNAPSHOT_H

#include "lss/runtime/text/json.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  unsigned __int128 time_fs;
  GArray *cycles;      // uint64_t, per clock
  GArray *events;      // uint64_t, for each that is counted
  GArray *values;      // spinach_value
  GArray *connections; // uint64_t, four for each that is counted
  GArray *operands;    // double, of derived statistics
} spinach_snapshot;

// The present; `over`: the run has ended, and its statistics are up to date.
spinach_snapshot *spinach_snapshot_new(unsigned __int128 time_fs, bool over);

void spinach_snapshot_free(spinach_snapshot *snapshot); // NULL: nothing

// The value of the statistic that is now at `index`, which a collector may have reported at another place then, or not
// at all: NULL.
const struct spinach_value *spinach_snapshot_value(const spinach_snapshot *snapshot, guint index, const char *reported);

// A SNAPSHOT of measure.h, with the values that there were.  `before` is the one before it in its series; NULL: the
// beginning of the run.
void spinach_snapshot_write(Json *json, const spinach_snapshot *snapshot, const spinach_snapshot *before);
// The same with the values that there are at the end of the run; NULL writes null.
void spinach_snapshot_write_last(Json *json, const spinach_snapshot *snapshot, const spinach_snapshot *before);

// For checkpoints, and back.
#define SNAPSHOT_TYPE "((tt)atata(bbtds)atad)"
GVariant *spinach_snapshot_pack(const spinach_snapshot *snapshot);
spinach_snapshot *spinach_snapshot_unpack(GVariant *packed);
// What it has more or less of than those of this build, as "have 3 events, and this build has 4"; NULL: nothing.
char *spinach_snapshot_misfit(const spinach_snapshot *snapshot);

#endif
