// Words of memory that have names, such as the registers of devices, as debug views declare them.
#ifndef SPINACH_DEVICE_REGISTERS_H
#define SPINACH_DEVICE_REGISTERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

// A line for each whose name, or path and name, the pattern matches: its stored value, and what its bits are called.
// "": all of them.
void spinach_registers_append(GString *out, const char *pattern);
// For a report: those whose bits have names and are not all 0.
void spinach_registers_report(FILE *out);

#endif
