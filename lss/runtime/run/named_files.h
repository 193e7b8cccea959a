// The files that options of a simulator name.
#ifndef SPINACH_NAMED_FILES_H
#define SPINACH_NAMED_FILES_H

#include "lss/runtime/engine/request.h"

// Notes in options->files what `value` names, if the option `name` names a file.
void named_files_note(spinach_options *options, const char *name, const char *value);

#endif
