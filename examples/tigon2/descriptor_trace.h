// The records of descriptor traces, as docs/traces.md describes them.
#ifndef DESCRIPTOR_TRACE_H
#define DESCRIPTOR_TRACE_H

#include "lss/runtime/text/number.h"

#include <stdint.h>
#include <string.h>

enum { TRACE_NOTHING, TRACE_POST, TRACE_SEND, TRACE_PIECES = 8 };

typedef struct {
  int kind;
  uint64_t time;                // nanoseconds
  uint32_t count;               // buffers to post, or pieces of the frame
  uint32_t bytes;               // of each buffer
  uint32_t piece[TRACE_PIECES]; // lengths
} trace_record;

// Takes the next number off a line; false: there is none from `least` to `most`.
static inline bool trace_number(const char **at, uint64_t least, uint64_t most, uint64_t *number) {
  const char *end = *at + strspn(*at, " \t");
  if (!number_take_count(&end, most, number) || *number < least) return false;
  if (*end && !strchr(" \t\r\n", *end)) return false;
  *at = end;
  return true;
}

// Takes one line apart; returns NULL, or what is wrong with it.  `line` loses its comment.
static inline const char *trace_parse(char *line, trace_record *record) {
  *record = (trace_record){.kind = TRACE_NOTHING};
  line[strcspn(line, "#")] = '\0';
  const char *at = line + strspn(line, " \t\r\n");
  uint64_t number, bytes;
  if (!*at) return NULL;
  const size_t length = strcspn(at, " \t\r\n");
  const bool posts = length == 4 && !strncmp(at, "post", 4);
  if (!posts && (length != 4 || strncmp(at, "send", 4) != 0)) return "a record is a post or a send";
  at += length;
  if (!trace_number(&at, 0, UINT64_MAX, &record->time))
    return "expected 'post TIME COUNT BYTES' or 'send TIME BYTES...', TIME in whole nanoseconds";
  if (posts) {
    if (!trace_number(&at, 1, 4096, &number) || !trace_number(&at, 64, 65535, &bytes))
      return "a post has a count from 1 to 4096 and a buffer size from 64 to 65535";
    record->kind = TRACE_POST;
    record->count = (uint32_t)number;
    record->bytes = (uint32_t)bytes;
  } else {
    record->kind = TRACE_SEND;
    while (record->count < TRACE_PIECES && trace_number(&at, 1, 65535, &number))
      record->piece[record->count++] = (uint32_t)number;
    if (record->count == 0) return "a send needs a length from 1 to 65535";
  }
  if (!at[strspn(at, " \t\r\n")]) return NULL;
  record->kind = TRACE_NOTHING;
  return posts ? "nothing may follow the buffer size of a post" : "a send has 1 to 8 lengths from 1 to 65535";
}

#endif
