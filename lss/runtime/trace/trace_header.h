// The header of a file of recorded events: what the machine is, and which sources its records have.
#ifndef SPINACH_TRACE_HEADER_H
#define SPINACH_TRACE_HEADER_H

#include "lss/runtime/engine/machine.h"

#include <glib.h>

// What a record is of.
typedef struct {
  const char *path, *event;
  int32_t clock;
  const spinach_argument *arguments;    // up to one without a name
  const spinach_connection *connection; // NULL: it is of an instance
} TraceSource;

// All sources of this machine, in the order of their numbers; `instances` and `connections` receive the number of the
// first of each.
GArray *trace_sources(uint16_t *instances, uint16_t *connections);

// The bytes of its arguments.
gsize trace_source_size(const TraceSource *source);

// Whether a memory operation only writes, by its name.
bool trace_operation_writes(const char *name);

// The header as it stands in the file, with what is ahead of it.
GByteArray *trace_header(const GArray *sources);

#endif
