// C units in, object files out, compiled only when their text, headers, flags or compiler have changed.
#ifndef LSS_OBJECTS_H
#define LSS_OBJECTS_H

#include "lss/build/toolchain.h"

typedef enum {
  UNIT_FINE,
  UNIT_REFUSED, // by clang: the messages are clang's
  UNIT_FAILED,  // the messages are one line of ours
} UnitState;

typedef struct {
  char *name; // of the unit, for messages and kept files
  char *text;
  const char *optimisation; // NULL: as the options say
  UnitState state;          // the rest is filled in
  char *messages;           // what clang said, also long ago when the object comes from the cache
  char *object, *key;       // its path, and what identifies its contents
} Unit;

// Compiles all units, as many at a time as there are processors.  Returns the worst of their states.
UnitState objects_compile(Toolchain *toolchain, GPtrArray *units);

#endif
