// The options of a simulator's command line, one by one: what each takes, and what it asks for.
#ifndef SPINACH_OPTION_TABLE_H
#define SPINACH_OPTION_TABLE_H

#include "lss/runtime/engine/request.h"

typedef struct {
  const char *name, *argument, *help; // argument: NULL where it takes none
  bool (*set)(spinach_options *options, const char *value);
} spinach_option;
extern const char spinach_or_json[];                // the argument of what may be given as --NAME=json, for tools
extern const char spinach_or_instances[];           // or as --NAME=INSTANCES
extern const spinach_option spinach_option_table[]; // ends with one without a name
bool spinach_option_is_here(const spinach_option *option); // this simulator has it

// Sets a runtime parameter; false after a line when it cannot be set.
bool spinach_setting_add(spinach_options *options, const spinach_parameter *parameter, const char *text);

// Whether a parameter is the machine's own timeout: a top-level one of type time called `watchdog`, for the engine
// alone.
bool spinach_is_watchdog(const spinach_parameter *parameter);

#endif
