// The records of descriptor traces, as docs/traces.md describes them.
#ifndef DESCRIPTOR_TRACE_H
#define DESCRIPTOR_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TRACE_NOTHING, TRACE_POST, TRACE_SEND, TRACE_PIECES = 8 };

typedef struct {
  int kind;
  uint64_t time;                // nanoseconds
  uint32_t count;               // buffers to post, or pieces of the frame
  uint32_t bytes;               // of each buffer
  uint32_t piece[TRACE_PIECES]; // lengths
} trace_record;

// Takes one line apart; returns NULL, or what is wrong with it.  `line` loses its comment.
static inline const char *trace_parse(char *line, trace_record *record) {
  *record = (trace_record){.kind = TRACE_NOTHING};
  char *comment = strchr(line, '#');
  if (comment) *comment = 0;
  char kind[8] = "";
  unsigned long long when = 0;
  unsigned value = 0, bytes = 0;
  int used = 0;
  if (sscanf(line, " %7s", kind) != 1) return NULL;
  if (strcmp(kind, "post") != 0 && strcmp(kind, "send") != 0) return "a record is a post or a send";
  if (sscanf(line, " %7s %llu%n", kind, &when, &used) != 2)
    return "expected 'post TIME COUNT BYTES' or 'send TIME BYTES...'";
  record->time = when;
  const char *at = line + used;
  if (kind[0] == 'p') {
    if (sscanf(at, " %u %u", &value, &bytes) != 2 || value < 1 || value > 4096 || bytes < 64 || bytes > 65535)
      return "a post has a count from 1 to 4096 and a buffer size from 64 to 65535";
    record->kind = TRACE_POST;
    record->count = value;
    record->bytes = bytes;
    return NULL;
  }
  while (sscanf(at, " %u%n", &value, &used) == 1) {
    if (record->count == TRACE_PIECES || value < 1 || value > 65535) return "a send has 1 to 8 lengths from 1 to 65535";
    record->piece[record->count++] = value;
    at += used;
  }
  if (record->count == 0) return "a send needs a length";
  record->kind = TRACE_SEND;
  return NULL;
}

#endif
