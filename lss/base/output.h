// Files that a command writes: whole or not at all.
#ifndef LSS_OUTPUT_H
#define LSS_OUTPUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

// Writes `text` to `path` ("-" is standard output), replacing the file only when all of it is on the disk.  On failure
// prints "lss COMMAND: ..." and returns false; the exit status is then 3.
bool output_write(const char *command, const char *path, const char *text);

// The same of what `fill` writes piece by piece; it returns false, with errno, when a piece cannot be written.
bool output_fill(const char *command, const char *path, bool (*fill)(FILE *out, void *data), void *data);

// Says on a terminal what a command has written: "lss COMMAND: wrote PATH".  Scripts and pipes get nothing.
void output_note(const char *command, const char *path, const char *note);

// False, with a line on standard error, when `path` is one of the files (const char*) that the machine was read from;
// the exit status is then 2.
bool output_spares_sources(const char *command, const char *path, const GPtrArray *sources);

#endif
