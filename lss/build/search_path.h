// Where clang looks for headers, and what else it reads that no command line names; clang is called once for each set
// of flags.
#ifndef LSS_SEARCH_PATH_H
#define LSS_SEARCH_PATH_H

#include "lss/build/toolchain.h"

typedef struct SearchPath {
  GPtrArray *folders; // char*, in no order that matters; they need not exist
  GPtrArray *own;     // char*: those of them that are clang's and the system's
  GPtrArray *forced;  // char*: headers that -include names, which are looked for in the working directory first
  char *settings;     // contents of the configuration files that clang reads
} SearchPath;

// The flags by which glib's headers are found.
extern const char *const search_path_glib_flags;

// NULL when clang does not say.  It belongs to the toolchain.
const SearchPath *search_path(Toolchain *toolchain);
void search_path_free(SearchPath *path);

// What follows of a path below a folder, or NULL.
const char *search_path_below(const char *folder, const char *file);

// Whether a file is of clang or of the system.
bool search_path_owns(const SearchPath *path, const char *file);

// Appends where else a header was looked for that was found at `file`: "NAME" below each other folder, if FOLDER/NAME
// is the file.
void search_path_add_places(const SearchPath *path, GPtrArray *places, const char *file);

// The variables from which clang takes more than the command line says; ends with NULL.
extern const char *const search_path_variables[];

// Those and what LSS_CFLAGS names by words that are files, for keys.
char *search_path_environment(char *const *flags);

#endif
