// Whether modules keep what their next_event says: the option --check-idle of debug builds.
#ifndef SPINACH_IDLE_CHECK_H
#define SPINACH_IDLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Before each instant asks all instances that have an edge in it; after it stops the run when one of them did something
// before it said that it would.
void spinach_idle_check_begin(void);
bool spinach_idle_check_active(void);

// A line for each instance: in how many cycles it did nothing, and how many of them its next_event had named.
void spinach_idle_check_report(FILE *out);

#endif
