// Files written whole or not at all: a new content takes the name only when all of it is on the disk.
#ifndef SPINACH_WHOLE_FILE_H
#define SPINACH_WHOLE_FILE_H

#include <glib.h>
#include <stdbool.h>

// Writes `length` bytes (-1: up to the final zero) to `path`; "-" is standard output, and what exists and is no regular
// file (a pipe, a device) is written in place.  On failure sets *error, whose message is a reason without the path.
bool whole_file_write(const char *path, const char *text, gssize length, GError **error);

#endif
