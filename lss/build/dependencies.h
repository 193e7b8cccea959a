// What an object depends on besides its key: headers, and places where others would have been found.
//
// A list of it has a path on a line: the files that were read, an empty line, places where clang looked for a header in
// vain or tested for one.  Where else a header of the list is looked for follows from the search path.
#ifndef LSS_DEPENDENCIES_H
#define LSS_DEPENDENCIES_H

#include "lss/build/toolchain.h"

#define DEPENDENCIES_TARGET "unit" // of the make rule that clang writes

// From clang's make rule for `unit`, a file with this text.  *known: all places are.
char *dependencies_list(Toolchain *toolchain, const char *rule, const char *unit, const char *text, bool *known);

// The name of what was made: a hash of the key, of the contents of the files, and of what is at the places.
char *dependencies_name(Toolchain *toolchain, const char *key, const char *list);

// Whether one of the files was written since the toolchain was opened, so that it is not known what was read.
bool dependencies_changed(Toolchain *toolchain, const char *list);

#endif
