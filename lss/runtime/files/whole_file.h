// Files written whole or not at all: a new content takes the name only when all of it is on the disk.
#ifndef SPINACH_WHOLE_FILE_H
#define SPINACH_WHOLE_FILE_H

#include <glib.h>
#include <stdbool.h>

// Writes `length` bytes (-1: up to the final zero) to `path`; "-" is standard output, and what exists and is no regular
// file (a pipe, a device) is written in place.  On failure sets *error, whose message is a reason without the path.
bool whole_file_write(const char *path, const char *text, gssize length, GError **error);

// Whether there is a folder for `path` in which files may be made, or with `folders` one where it may be made; what is
// there already is left alone.
bool whole_file_possible(const char *path, bool folders, GError **error);

#endif
