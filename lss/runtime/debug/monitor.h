// gdb's `monitor` commands: what a machine has beyond processors.
#ifndef SPINACH_MONITOR_H
#define SPINACH_MONITOR_H

#include <glib.h>

// Carries out a command; returns what is printed, which the caller frees.
char *monitor_command(const char *command);

#endif
