// Files written whole or not at all: a new content takes the name only when all of it is on the disk.
//
// A file grows under another name in the folder in which it will be.  A name that is a symbolic link stays one: what it
// leads to is written.  A file that was there before keeps its mode and, where that is allowed, its owner.
#ifndef SPINACH_WHOLE_FILE_H
#define SPINACH_WHOLE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

// Where a path leads, past symbolic links: a name in a folder.
typedef struct {
  int folder; // its descriptor
  char *path, *name;
  bool exists;        // an ordinary file has the name
  struct stat before; // that file
} FilePlace;

bool file_place_find(FilePlace *place, const char *path, GError **error);
void file_place_clear(FilePlace *place);
// What a new file at this place gets of the one that was there before.
void file_place_keep(const FilePlace *place, int handle);
// A name for a file that grows into this one, which the caller frees: that of the file, with a dot and six characters.
char *file_place_temporary(const FilePlace *place);

// The path without the symbolic links that its last name may be; the caller frees it.
char *file_path_resolve(const char *path);
// Whether a path is of a descriptor that the process was started with (/dev/stdout, /dev/fd/3), and which.
bool file_path_is_handed(const char *path, int *handle);
// Whether what is at a path is written as it comes: standard output ("-"), such a descriptor, a pipe, a device.
bool file_path_in_place(const char *path);
// Opens such a path for writing; -1 with errno.
int file_path_open_in_place(const char *path);

// One that grows.
typedef struct {
  FilePlace place;
  char *temporary; // its name for now, in the folder of its place
  int handle;
} WholeFile;

// Begins to write `path`, which is not written in place.  On failure sets *error, whose message is a reason without the
// path.
bool whole_file_begin(WholeFile *file, const char *path, GError **error);
// All is written to the handle: the file gets its name.  Closes nothing; on failure sets *error.
bool whole_file_complete(WholeFile *file, GError **error);
// Forgets it, and removes what was not completed.  The handle is the caller's to close.
void whole_file_end(WholeFile *file);
// Removes it in a signal handler.
void whole_file_remove(const WholeFile *file);
// Where it grows, as a path, which the caller frees.
char *whole_file_growing(const WholeFile *file);

// Writes bytes to a descriptor; on failure sets *error.
bool whole_file_append(int handle, const void *bytes, gsize length, GError **error);

// Writes `length` bytes (-1: up to the final zero) to `path`, also in place.
bool whole_file_write(const char *path, const char *text, gssize length, GError **error);

// The same of what `fill` writes, piece by piece; it returns false, with errno, when a piece cannot be written.
bool whole_file_fill(const char *path, bool (*fill)(FILE *out, void *data), void *data, GError **error);

// Whether `path` can be written: there is a folder in which files may be made, or with `folders` one where it may be
// made; what is there already is left alone.
bool whole_file_possible(const char *path, bool folders, GError **error);

#endif
