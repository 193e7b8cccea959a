// How far a run is, on a terminal.
#ifndef SPINACH_PROGRESS_H
#define SPINACH_PROGRESS_H

#include "lss/runtime/run/options.h"

// Ahead of the run: what is done that may take long, until the next such text, the start or the end.  On a terminal
// only.
void spinach_progress_say(const spinach_options *options, const char *text);
// From here on that of each large file that is read.
void spinach_progress_say_files(const spinach_options *options);
void spinach_progress_start(void);
// Redraws the line, unless the terminal is a console of the machine, if a fifth of a second has passed: simulated time,
// cycles per host second, share of the way.
void spinach_progress_show(const spinach_options *options);
// Removes the line.
void spinach_progress_end(void);
// Host seconds since spinach_progress_start().
double spinach_host_seconds(void);

#endif
