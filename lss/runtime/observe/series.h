// The samples of a run (--sample), written down as they come, so that a long series takes no memory and a run that is
// killed leaves it.
//
// They are kept in a file beside the statistics, under their name with six letters more; without a file of statistics
// in one that has no name.  Each line is a JSON object: a SNAPSHOT of measure.h, or, before the first one and wherever
// collectors report other values than before, the names of what follows:
//
//   {"statistics": [{"path", "name", "unit", "description"}], "derived": [the same],
//    "connections": [[from, to]]                                                          (when they are counted)}
//
// A line is handed to the system when its sample is taken: only the last one can be incomplete.  When the run ends, the
// samples are copied into the statistics and the file is removed, unless they could not be written there.
#ifndef SPINACH_SERIES_H
#define SPINACH_SERIES_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/observe/snapshot.h"

#include <stdio.h>

// Where samples go in this run: nowhere, when nothing will hold them.
void spinach_series_begin(const spinach_options *options);

// Takes a sample, which is the series' own from here on.  Returns false when it cannot be written.
bool spinach_series_add(spinach_snapshot *sample);

// Writes all samples, each on a line, as elements of a list that is `depth` deep in a document, with the values that
// there are at the end of the run.  Returns false, with errno, when they cannot be written or read.
bool spinach_series_copy(FILE *out, int depth);
uint64_t spinach_series_count(void);

// Why a sample could not be written; NULL: all were.
const char *spinach_series_problem(void);

// The samples could not be copied: their file stays.  Returns its name; NULL: it has none.
const char *spinach_series_leave(void);
// The name of a file that stays; NULL: none does.
const char *spinach_series_left(void);
// Removes the file unless it stays.
void spinach_series_end(void);

// What a checkpoint keeps of it: the number of samples, the last one, the names of what collectors reported before each
// list of names, and all lines.
#define SERIES_TYPE "(ta" SNAPSHOT_TYPE "aasay)"
GVariant *spinach_series_pack(void);
// Goes on from that.  On failure returns false and sets *misfit, the caller's to free, or there is a problem.
bool spinach_series_unpack(GVariant *packed, char **misfit);

#endif
