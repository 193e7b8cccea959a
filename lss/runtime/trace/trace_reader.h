// Reading a file of recorded events: its header, then record by record.
#ifndef SPINACH_TRACE_READER_H
#define SPINACH_TRACE_READER_H

#include "lss/runtime/engine/clock.h"

#include "lss/runtime/text/type.h"

#include <glib.h>

typedef struct {
  const char *name;
  const struct spinach_type *type;
  gsize offset; // among the bytes of all arguments
} TraceReadArgument;

// What a record is of.
typedef struct {
  const char *path, *event;
  const char *core; // the processor that it belongs to: path of the debug view around it; NULL: of none
  guint clock;
  gsize size; // bytes of the arguments
  guint argument_count;
  TraceReadArgument *arguments;
} TraceReadSource;

typedef struct {
  const char *path;
  const guint8 *bytes;
  gsize size;
} TraceReadProgram;

typedef struct {
  const char *machine, *version;
  guint64 ticks_per_second;
  guint clock_count, source_count, program_count;
  spinach_clock *clocks;
  TraceReadSource *sources;
  TraceReadProgram *programs;
} TraceReadHeader;

typedef struct {
  guint64 instant; // ticks
  const TraceReadSource *source;
  const guint8 *bytes; // of the arguments
} TraceRecord;

// The cycle of its source's clock that a record is of.
static inline guint64 trace_reader_cycle(const TraceReadHeader *header, const TraceRecord *record) {
  return spinach_cycle_from(&header->clocks[record->source->clock], header->ticks_per_second, record->instant);
}

typedef struct TraceReader TraceReader;

// Takes the bytes over.  On failure sets *error, whose message is a line without the file's name.
TraceReader *trace_reader_new(GBytes *file, GError **error);
void trace_reader_free(TraceReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceReader, trace_reader_free)

const TraceReadHeader *trace_reader_header(const TraceReader *reader);

// The next record; false at the end, and, with *error, where the file is damaged.
bool trace_reader_next(TraceReader *reader, TraceRecord *record, GError **error);

// The whole number that an argument is, by its name; false when there is none.
bool trace_record_integer(const TraceRecord *record, const char *name, guint64 *number);

#endif
