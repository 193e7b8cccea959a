// Statistics and manifest of a run, as JSON for tools and as a table for people.
//
//   {"manifest":    {"machine", "version", "debug", "error" (of a run that ended with one), "seed",
//                    "parameters": {name: value}, "constants": {name: value},
//                    "sources": [{"file", "sha256"}], "environment": {variables of clang that were set at the build},
//                    "inputs": [{"file", "sha256" or "blocks_sha256"}]},
//    "run":         {"ended", "simulated_ns", "skipped_cycles", "cycles": {clock: n}},
//    "statistics":  [{"path", "name", "value", "unit", "difference", "description"}],
//    "derived":     [the same and "derived", the formula; null: divided by 0]            (when any are declared)
//    "connections": [{"from", "to", "transferred", "stalled", "cancelled", "idle"}],     (when they were collected)
//    "measured", "samples"}                                                              (when asked for: measure.h)
//
// "difference" is there only where it is false: the value is no count, and has a meaning at its instant alone.
// Nothing in it depends on the host or the hour: equal runs write equal bytes.
// `skipped_cycles` depends on where a run began to look for idle time, and so differs in one that was restored.
#ifndef SPINACH_STATISTICS_H
#define SPINACH_STATISTICS_H

#include "lss/runtime/engine/request.h"
#include "lss/runtime/text/json.h"

#include <stdio.h>

// The value of a statistic.
typedef struct {
  bool real, is_signed;
  uint64_t integer;
  double number;
  const char *reported; // by a collector: path and name, the same text for the same value; else NULL
} spinach_value;
void spinach_value_write(Json *json, const spinach_value *value);

// Appends the present values of all statistics, in the order of the document.
void spinach_statistics_values(GArray *values);

// Of a connection: transferred, stalled, cancelled, idle.  NULL: not counted.
const uint64_t *spinach_connection_counts(uint32_t connection);

// The members "statistics" and "derived" of the document without values: those of modules, not of collectors.
void spinach_statistics_names(Json *json);

// Writes the document; `add_manifest` adds what the run was made of, and `ended` says why it ended.  Returns false,
// with errno, when it cannot.
bool spinach_statistics_write(FILE *out, void (*add_manifest)(Json *json, const void *options), const void *options,
                              const char *ended);

// The same for spreadsheets: path, name, value, unit and description of each, the clocks' cycles first.
char *spinach_statistics_csv(void);

// Prints the clocks' cycles and the statistics that are not zero.
void spinach_statistics_table(FILE *out);

#endif
