// What a run writes of itself as JSON: what it was made of, how it ended, and its statistics.
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
#ifndef SPINACH_DOCUMENT_H
#define SPINACH_DOCUMENT_H

#include "lss/runtime/engine/request.h"

#include <stdio.h>

// Writes it; `ended` says why the run ended.  Returns false, with errno, when it cannot.
bool spinach_document_write(FILE *out, const spinach_options *options, const char *ended);

#endif
