// What names mean in a file as it stands, by its text alone: nothing is elaborated, so it works for a module by itself and
// beside errors.
#ifndef LSS_NAMES_H
#define LSS_NAMES_H

#include <stdbool.h>

// Whether the top of a file creates instances, which makes it a machine.
bool file_instantiates(const char *path);

#endif
