// How far a run is: a line that is redrawn on a terminal, or lines of JSON for tools.
#ifndef SPINACH_PROGRESS_H
#define SPINACH_PROGRESS_H

#include "lss/runtime/engine/request.h"

// From here on what takes long shows ahead of the run (spinach_progress_say), until the next such text, the start or
// the end.  On a terminal only.
void spinach_progress_begin(const spinach_options *options);
// And each large file that is read.
void spinach_progress_say_files(void);
void spinach_progress_start(void);
// Redraws the line, unless the terminal is a console of the machine, or writes one, if a fifth of a second has passed:
// simulated time, cycles per host second since the last one, share of the way.
void spinach_progress_show(void);
// The run is over: a drawn line is removed, and the last one written, with the speed of the whole run.
void spinach_progress_end(void);
// The share of the way to the nearest bound, or of the inputs when there is no bound; negative when it is unknown.
double spinach_progress_share(void);
// Host seconds since spinach_progress_start().
double spinach_host_seconds(void);

#endif
