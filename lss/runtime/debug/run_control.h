// Moving through the time of a run, forwards and backwards, until something is met that somebody looks for.
//
// A processor is stopped before the instant in which the instruction retires; since that is known only once it does,
// the machine goes an instant back.  Backwards is going back to a mark (history.h) and doing again what was done, as
// often as it takes to find the last time.
#ifndef SPINACH_RUN_CONTROL_H
#define SPINACH_RUN_CONTROL_H

#include "lss/runtime/debug/events.h"
#include "lss/runtime/debug/stop.h"

// Begins to keep history; call between instants.  `requested` is called now and then while the machine runs.
void run_control_begin(uint64_t history, bool (*requested)(void));
bool run_control_requested(void);

// Until something; `stepped`: also after one instruction of `core`.
Stop run_control_forward(guint core, bool stepped, StopScope scope);
Stop run_control_backward(guint core, bool stepped);
// Does again all that history knows, and shows its events; the run is then where it was.
void run_control_repeat(void (*take)(const Event *event));
// Lets the run end as it was found to: returns why; after an error it does not return.
const char *run_control_end(void);
void run_control_leave(void); // no more history

#endif
