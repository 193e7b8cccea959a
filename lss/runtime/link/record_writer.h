// Writes the record of a link (record_format.h).
#ifndef SPINACH_LINK_RECORD_WRITER_H
#define SPINACH_LINK_RECORD_WRITER_H

#include "lss/runtime/files/sha256.h"
#include "lss/runtime/link/record_format.h"
#include "lss/runtime/text/type.h"
#include "lss/runtime/trace/trace_file.h"

// Which link it is, in which network, and from when on it is recorded.
typedef struct {
  const char *hash;
  const char *texts[LINK_RECORD_TEXTS]; // the path, the type, who sends and who receives
  uint32_t item_size;
  uint64_t ticks_per_second, cut, begins;
} LinkRecordAbout;

typedef struct {
  TraceFile file;
  struct sha256_ctx sum;
  GByteArray *waiting;             // to be written
  const struct spinach_type *type; // of the items
  uint8_t *item;                   // the latest, without what is in its padding
  uint32_t item_size;
  uint64_t count;
} LinkRecordWriter;

// On failure sets *error, whose message is a reason without the path.  `path` lives as long as the writer.
bool record_writer_begin(LinkRecordWriter *writer, const char *path, const LinkRecordAbout *about,
                         const struct spinach_type *type, GError **error);
// A failure to write is reported at the end.
void record_writer_add(LinkRecordWriter *writer, uint64_t sent, uint64_t arrives, const void *item);
// The file gets its name.
bool record_writer_end(LinkRecordWriter *writer, uint64_t until, bool failed, const char *reason, GError **error);

#endif
