// Objects in, simulator out.
#ifndef LSS_LINK_H
#define LSS_LINK_H

#include "lss/build/objects.h"

// Identifies what would be linked.
char *link_key(const Toolchain *toolchain, const GPtrArray *units);

// Links the units with the runtime into `output`, whole or not at all.  Returns 0 or 3.
int link_simulator(Toolchain *toolchain, const GPtrArray *units, const char *output);

// The same into the cache, unless it is there already; *output is its path.
int link_cached(Toolchain *toolchain, const GPtrArray *units, const char *name, char **output);

#endif
