// Profile-guided optimisation: an instrumented simulator runs as its user's will, and clang optimises for what it did.
#ifndef LSS_PROFILE_GUIDED_H
#define LSS_PROFILE_GUIDED_H

#include "lss/build/build.h"
#include "lss/build/objects.h"

// Makes a profile of the machine's units from the runs in `build->training`, each the options of a simulator as a shell
// reads them, or finds it in the cache: it is made again when the machine, the compiler, a run or a file that a run
// reads has changed.  *flag is what has clang use it.  Returns the exit status: 1 when a run fails, 2 when its words
// cannot be read, 3 when a tool or the disk does; one line says why.
int profile_guided(const BuildOptions *build, GPtrArray *units, char **flag);

#endif
