// Events of the machine as they happen, of those that this simulator was built to record (trace/recorder.h).
#ifndef SPINACH_DEBUG_EVENTS_H
#define SPINACH_DEBUG_EVENTS_H

#include "lss/runtime/trace/trace_header.h"

typedef struct {
  uint64_t instant;
  const TraceSource *source;
  const uint8_t *arguments; // one behind another, until the next look
} Event;

void events_begin(void);
// Whether all events of this name are recorded, of what matches the pattern.
bool events_are_recorded(const char *pattern, const char *event);

// From here on they are collected, or no more; what was collected is forgotten.
void events_collect(bool on);
// Those that happened since the last look, in order.
const GArray *events_look(void);

// A whole number among the arguments of an event; false when it has none of that name.
bool event_number(const Event *event, const char *name, int64_t *number);
// The type of an argument; NULL when there is none.
const struct spinach_type *event_argument(const Event *event, const char *name);
// "nic.cpu[0].dcache miss address=0x1234"; the caller frees it.
char *event_text(const Event *event);

#endif
