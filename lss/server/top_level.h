// The kind of a file, by what is at its top.
#ifndef LSS_TOP_LEVEL_H
#define LSS_TOP_LEVEL_H

#include <stdbool.h>

// Whether the top of a file creates instances, which makes it a machine.
bool file_instantiates(const char *path);

#endif
