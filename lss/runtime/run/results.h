// What a run delivers at its end: statistics, manifest, waves, records, and its status.
#ifndef SPINACH_RESULTS_H
#define SPINACH_RESULTS_H

#include "lss/runtime/engine/request.h"

// Results that could not be written at the end are refused at the beginning, after a line.
bool spinach_results_possible(const spinach_options *options);
// Writes everything that a run was asked for, up to the present instant; returns the process's status.
int spinach_results_deliver(const char *ended);
// Of a run that does not begin.
void spinach_results_abandon(void);
// The last lines on standard output; false when one was lost.
bool spinach_results_flush(void);

#endif
