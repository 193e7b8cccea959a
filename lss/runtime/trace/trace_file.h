// The file that recorded events go to: without a name while it is written, so that a run that is killed leaves nothing.
#ifndef SPINACH_TRACE_FILE_H
#define SPINACH_TRACE_FILE_H

#include "lss/runtime/files/whole_file.h"

typedef struct {
  const char *path;
  WholeFile whole; // with a name only where the file system has no files without one
  int failure;     // errno of the first write that failed, or 0
} TraceFile;

// On failure sets *error, whose message is a reason without the path.
bool trace_file_open(TraceFile *file, const char *path, GError **error);
void trace_file_write(TraceFile *file, const void *bytes, gsize size);
// Gives it its name, in place of what has it.
bool trace_file_close(TraceFile *file, GError **error);
void trace_file_abandon(TraceFile *file);

#endif
