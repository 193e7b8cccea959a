// Patterns of paths, one language for collectors in a netlist and for options of a simulator.
#ifndef SPINACH_PATTERN_H
#define SPINACH_PATTERN_H

#include <stdbool.h>

// Whether a pattern matches a path: `*` anything within one name (its index apart), `[*]` any index, `**` any number of
// levels; `**.` may be no level at all, and `a.**` matches a too.
bool spinach_path_matches(const char *pattern, const char *path);

#endif
