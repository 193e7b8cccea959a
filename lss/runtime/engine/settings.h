// Runtime parameters: texts from the command line into the state, and back for the manifest.
#ifndef SPINACH_SETTINGS_H
#define SPINACH_SETTINGS_H

#include "lss/runtime/engine/request.h"

// The runtime parameter of this name, its own or an inner one; NULL when there is none.
const spinach_parameter *spinach_find_parameter(const char *name);

// Whether a pattern matches its name, or an inner one.
bool spinach_parameter_matches(const spinach_parameter *parameter, const char *pattern);

// Stores the defaults and the settings of all runtime parameters in the arena.  Prints a line and returns false when a
// text does not fit its parameter.
bool spinach_settings_store(const spinach_options *options);

// What one of the places of a string parameter holds.
const char *spinach_parameter_string(const spinach_parameter *parameter, uint32_t target);

// The text of a parameter's present value, as it could be given with --set; the caller frees it.
char *spinach_parameter_text(const spinach_parameter *parameter);

// Who opens a file of this name now: the parameter of the instance at hand that names it, or the instance.  The caller
// frees it.
char *spinach_file_user(const char *path);

#endif
