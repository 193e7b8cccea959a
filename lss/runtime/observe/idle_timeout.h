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

// ---- In a part of a network, where all parts look together

// Whether the option counts; `bounded`: something else ends the run.
bool spinach_idle_timeout_common(const spinach_options *options, bool bounded);
uint64_t spinach_idle_timeout_interval(void); // cycles of the fastest clock of all between two looks
bool spinach_idle_timeout_can_wait(void);     // there is a processor here that can
// The work of processors until now, in ticks, and the events that were counted.
void spinach_idle_timeout_say(uint64_t *worked, uint64_t *happened);
// The error, of sums over all parts, as above.
char *spinach_idle_timeout_judge(uint64_t now, uint64_t progress, uint64_t worked, uint64_t happened);

#endif
