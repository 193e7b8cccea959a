// Words of memory that have names, such as the registers of devices, as debug views declare them.
#ifndef SPINACH_DEVICE_REGISTERS_H
#define SPINACH_DEVICE_REGISTERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Calls `see` for each whose name or device the pattern matches at the end of its path, as for statistics: its stored
// value, and what its bits are called, "" if they have no names.  The pattern "": all of them.  Returns their number.
typedef void (*spinach_see_register)(const char *name, uint32_t value, const char *bits, void *data);
guint spinach_registers_find(const char *pattern, spinach_see_register see, void *data);
// Why a pattern finds none; the caller frees it.
char *spinach_registers_none(const char *pattern);
// A line for each of them, or one that there is none.
void spinach_registers_append(GString *out, const char *pattern);
// For a report: those whose bits have names and are not all 0.
void spinach_registers_report(FILE *out);

#endif
