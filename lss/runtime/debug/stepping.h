// The next step of the run, with marks on the way to which it can be taken back (history.h).
#ifndef SPINACH_DEBUG_STEPPING_H
#define SPINACH_DEBUG_STEPPING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

void stepping_begin(uint64_t history);

typedef enum { STEPPED, ENDED, FAILED } StepOutcome;
// A step of the run: one instant, or a piece of the run.  After an error the state is that before the instant that
// fails.
StepOutcome stepping_step(bool one_instant);
// Why the last step ended the run or failed.
void stepping_fail(const char *why); // the run does, between two instants
const char *stepping_why(void);
// Why the run is over, or NULL; it may be put back after steps that were only a look.
const char *stepping_over(void);
void stepping_set_over(const char *why);
// Whether an instruction of the processor is the one that failed, and its address.
bool stepping_failed(guint core, uint32_t *pc);

// The run was found to be over, or to fail, at this instant; whether it is still there; it may be otherwise.
void stepping_end(void);
bool stepping_is_at_end(void);
void stepping_go_on(void);

// To an instant, forwards or backwards.
void stepping_go_to(uint64_t instant);
// Shows `look` the machine so many instants later; then it is as before.
void stepping_look_ahead(uint32_t instants, void (*look)(void *arguments), void *arguments);
void stepping_mark_far(void);  // a mark if the latest one is far away
void stepping_mark_near(void); // where something is looked for

#endif
