// The file into which a tool writes what it executes.
#ifndef EMULIB_TRACE_OUTPUT_H
#define EMULIB_TRACE_OUTPUT_H

#include <glib.h>
#include <stdio.h>

// Opens it, "-" being standard error.  `inputs`, up to NULL, are the files that the tool reads, and none of them is
// overwritten.  NULL after a line on standard error.
FILE *trace_output_open(const char *tool, const char *path, const char *const *inputs);

// Whether all of it was written; FALSE after a line on standard error.  `file` may be NULL.
gboolean trace_output_close(const char *tool, const char *path, FILE *file);

#endif
