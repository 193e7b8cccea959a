// The command `statistics` of monitor and --interactive.
#ifndef SPINACH_STATISTICS_COMMAND_H
#define SPINACH_STATISTICS_COMMAND_H

#include "lss/runtime/text/json.h"

// Carries out "[PATTERN]", "mark" or "since [PATTERN]": adds a list to `json`, or without one lines to `out`.  Returns
// NULL, or what is wrong, which the caller frees.
char *statistics_command(const char *words, Json *json, GString *out);

#endif
