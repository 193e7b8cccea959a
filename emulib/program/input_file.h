// Files that a user names to be read: netlists, programs, traces, images.
#ifndef SPINACH_INPUT_FILE_H
#define SPINACH_INPUT_FILE_H

#include <glib.h>
#include <stdbool.h>

// Opens `path` for reading and returns its descriptor, or -1 with *error, whose message is a reason without the path.
// Only what has an end is opened: an ordinary file, or a pipe or terminal that the process was handed (/dev/stdin,
// /dev/fd/N).  A named pipe would wait for a writer, and a device never ends.
int input_file_open(const char *path, GError **error);

// All bytes of such a file, with a zero byte behind the last; *size may be NULL.  NULL with *error on failure.
char *input_file_read(const char *path, gsize *size, GError **error);

// Called, if it is set, before a file of this many bytes is read: for people who wait.
extern void (*input_file_reads)(const char *path, gsize size);

#endif
