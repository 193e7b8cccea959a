// The object cache: C units in, object files out, compiled only when their text, headers, flags or compiler have
// changed.
#ifndef LSS_OBJECTS_H
#define LSS_OBJECTS_H

#include <glib.h>
#include <stdbool.h>

typedef struct {
  const char *optimisation; // "-O2"
  bool sanitize;
  bool times; // report the seconds that each unit took
} CompilerOptions;

typedef struct {
  char *name; // of the unit, for messages and kept files
  char *text;
  const char *optimisation; // NULL: as the options say
  char *object;             // path, filled in
  char *diagnostics;        // what clang printed, when it failed
  bool failed;
} Unit;

// "$LSS_CACHE", "$XDG_CACHE_HOME/spinach" or "~/.cache/spinach".
char *objects_cache(void);

// Compiles all units, as many at a time as there are processors.  Returns 0, 1 when clang refused a unit (see
// Unit.diagnostics), 3 after reporting a failure of our own.
int objects_compile(GPtrArray *units, const CompilerOptions *options);

// Links the units with the runtime into `output`, whole or not at all.  Returns 0 or 3.
int objects_link(GPtrArray *units, const CompilerOptions *options, const char *output);

// Identifies what objects_link() would produce.
char *objects_key(GPtrArray *units, const CompilerOptions *options);

#endif
