// The text of source files: from disk, or as an editor holds it.
#ifndef LSS_SOURCE_H
#define LSS_SOURCE_H

#include <glib.h>
#include <stdbool.h>

// The name by which a file is known however it is reached: absolute, symbolic links followed where there is a file.
char *source_canonical(const char *path);

// Sets what source_read() finds at a canonical path in place of the file on the disk, which need not exist; NULL: the
// file again.
void source_overlay(const char *canonical, const char *text);

// All of a file's text, with a zero byte behind it.  NULL with *error, whose message is a reason without the path.
char *source_read(const char *path, gsize *length, GError **error);

// Whether there is such a file, on the disk or in an editor.
bool source_exists(const char *path);

// Calls `seen` with the canonical path of every file asked for from now on, those included that could not be read.
void source_watch(void (*seen)(const char *canonical, gpointer data), gpointer data);

#endif
