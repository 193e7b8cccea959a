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
  const char *optimisation; // flags with a space between; NULL: as the options say
  bool repeats;             // it holds no C of the user's that another unit does not hold too
  UnitState state;          // the rest is filled in
  char *messages;           // what clang said, also long ago when the object comes from the cache
  char *object, *key;       // its path, and what identifies its contents
  char *list;               // what it was made from besides its text (dependencies.h)
} Unit;

// Where the cache lists the files that were read to make what `key` identifies (dependencies.h).
char *objects_list(const Toolchain *toolchain, const char *key);

// Compiles all units, as many at a time as there are processors.  Returns the worst of their states.
UnitState objects_compile(Toolchain *toolchain, GPtrArray *units);

// The same without objects: fills in what clang says of the units' C, units that repeat another left out.
UnitState objects_check(Toolchain *toolchain, GPtrArray *units);

#endif
