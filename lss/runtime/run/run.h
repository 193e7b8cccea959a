// The loop of a run: what is due between two advances, and why it ends.
#ifndef SPINACH_RUN_H
#define SPINACH_RUN_H

#include "lss/runtime/engine/request.h"

void spinach_run_prepare(const spinach_options *options); // before the machine starts
const spinach_options *spinach_run_options(void);
const char *spinach_run_to_end(void); // runs to the end; returns why it ended

// Begins the next advance of the run; returns why the run is over instead, or NULL.
const char *spinach_run_begin(void);
// Between two advances: words if there was no progress for the time of --watchdog, which the caller frees, or NULL.
char *spinach_run_stuck(void);
const char *spinach_run_end_stuck(const char *text); // reports them; returns why the run is over
// At the end of a run that is watched: words if more than half of it passed without progress, which the caller frees,
// or NULL.
char *spinach_run_silence(void);

// Whether modules keep to what they declare of their state; false after a line, and the run has an error.
bool spinach_state_is_sound(void);

bool spinach_run_is_stuck(void); // it ended so
bool spinach_run_repeats(void);  // it repeats a run that did, for the report alone
// Runs a stuck run again, for its report alone; says so before.
void spinach_run_repeat(int argc, char **argv);

#endif
