// Whether modules keep what their next_event says: the option --check-idle of debug builds.
#ifndef SPINACH_IDLE_CHECK_H
#define SPINACH_IDLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void spinach_idle_check_begin(void);
bool spinach_idle_check_active(void);

// Before an instant: asks all instances that have an edge in it.  `cycles` and `due` are those of each clock.
void spinach_idle_check_ask(const uint64_t *cycles, const uint64_t *due, uint64_t instant);

// After it: stops the run when one of them did something before it said that it would.
void spinach_idle_check_compare(void);

// A line for each instance: in how many cycles it did nothing, and how many of them its next_event had named.
void spinach_idle_check_report(FILE *out);

#endif
