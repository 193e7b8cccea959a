// Conditions on which a run that is debugged stops (`monitor break`): a time that comes, a state that comes to compare
// so, or an event.
#ifndef SPINACH_STOP_CONDITIONS_H
#define SPINACH_STOP_CONDITIONS_H

#include "lss/runtime/debug/stop.h"

void stop_conditions_begin(void);
// Adds one; returns NULL, or words that say what is wrong or that its time is over, which the caller frees.  If it
// waits for an event that is not recorded it is not added, and what has to be recorded is added to `wanted`, as
// --record of the compiler has it.
char *stop_conditions_add(const char *text, GPtrArray *wanted);
void stop_conditions_clear(void);

bool stop_conditions_any(void);
bool stop_conditions_have_events(void);
bool stop_conditions_each_instant(void); // something has to be looked at after each instant
// The instant at which the machine must stop next since a time comes; UINT64_MAX: at none.
uint64_t stop_conditions_tick(void);
// Whether one is on a value that may change in time that is skipped.
bool stop_conditions_pass(void);
// The text of one by its number; NULL beyond the last.
const char *stop_conditions_text(guint number);

// What is so now: what comes is compared with it, and events are counted from here on.
void stop_conditions_see(void);
// After an instant that began at `before`, with the events in it: adds those that came true.
void stop_conditions_collect(uint64_t before, const GArray *events, GArray *met);
// The same of times alone, after as many instants as stop_conditions_tick() permits.
void stop_conditions_collect_times(uint64_t before, GArray *met);

// Backwards stretches are done again one after another, the latest first, and what happens in each is counted from its
// end.  The search begins, a stretch begins, and it ends, which adds the one that counts, if there is any.
void stop_conditions_see_backwards(void);
void stop_conditions_look(void);
void stop_conditions_collect_stretch(GArray *met);

#endif
