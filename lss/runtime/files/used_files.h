// The files of a run, each with what it is used for: one that is written is used for nothing else.
//
// All that reads or writes a file that a user can name says so here before the first cycle.  Two names of one file (a
// symbolic or hard link, another way there, another case where that makes no difference) are the same file, also when
// it is still to be made.
#ifndef SPINACH_USED_FILES_H
#define SPINACH_USED_FILES_H

#include <glib.h>
#include <stdbool.h>

typedef enum {
  FILE_IS_READ,
  FILE_IS_RESTORED, // a checkpoint is read, and may be replaced by
  FILE_IS_EXECUTED,
  FILE_IS_WRITTEN,
  FILE_IS_SAVED, // a later one
} FileUse;

// Notes that `user` (an option, a parameter, "this run") reads or writes `path`; both texts may be gone afterwards.
// On failure sets *error, a whole sentence that names both uses.  What is written in place (a pipe, a device, a
// descriptor) may have any number of uses.
bool used_files_add(const char *path, FileUse use, const char *user, GError **error);

// The same of a checkpoint that `user` may write again and again.
bool used_files_add_saved(const char *path, const char *user, GError **error);

// Notes the standard streams that were directed to files.
bool used_files_add_standard(GError **error);

#endif
