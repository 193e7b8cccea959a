// gdb's `monitor` commands: what a machine has beyond processors.
#ifndef SPINACH_MONITOR_H
#define SPINACH_MONITOR_H

#include <glib.h>

// Carries out a command; returns what is printed, which the caller frees.  A command that needs events that are not
// recorded does nothing, and adds them to `wanted`, as --record of the compiler has it.
char *monitor_command(const char *command, GPtrArray *wanted);

#endif
