// The end of a run in which processors only wait and nothing new happens: the option --idle-timeout.
//
// An operating system whose programs wait for ever never comes to a standstill: its timer goes on.  At equal intervals
// of simulated time, the work of the processors is added up that can wait for an interrupt: cycles that are neither
// `idle` nor `halted` in debug views.  In an interval in which they work for more than a tenth of the time of one, in
// which a module reports progress, or in which an event comes that a condition counts, something new has happened.
// Without any of that for the time of the option, the run ends.
#ifndef SPINACH_IDLE_TIMEOUT_H
#define SPINACH_IDLE_TIMEOUT_H

#include "lss/runtime/engine/request.h"

// Before a run without commands from users.
void spinach_idle_timeout_begin(const spinach_options *options);
// Cycles of the fastest clock to the next look; UINT64_MAX: there is none.
uint64_t spinach_idle_timeout_distance(void);
// Between two advances: the error when nothing new has happened for too long, which the caller frees; else NULL.
char *spinach_idle_timeout_error(void);

#endif
