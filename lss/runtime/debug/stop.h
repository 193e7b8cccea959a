// Where and why a run that is debugged stopped.
#ifndef SPINACH_DEBUG_STOP_H
#define SPINACH_DEBUG_STOP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  STOP_REQUESTED,  // by somebody outside
  STOP_STEPPED,    // the instruction was executed, or taken back
  STOP_BREAKPOINT, // the instruction at one is next
  STOP_WATCHPOINT, // what it watches has changed
  STOP_CONDITION,  // of `monitor break` (stop_conditions.h)
  STOP_BEGINNING,  // of the history
  STOP_OVER,       // the run is over; stepping_why() says why
  STOP_FAILED      // the next instant ends the run with an error; stepping_why() says which
} StopKind;

// What a watchpoint waits for: another value, whoever writes it; or that its processor reads, or reads or writes.
typedef enum { WATCH_VALUE, WATCH_READS, WATCH_ACCESSES } WatchKind;

typedef struct {
  StopKind kind;
  guint core;       // whose it is, from 1; 0: nobody's
  bool hardware;    // of a breakpoint
  uint32_t address; // of a watchpoint
  WatchKind watch;
  const char *why; // of a condition or an access, until the next one
  uint32_t within; // of an instruction: those before it that retire in the same instant
} Stop;

// Whose breakpoints and watchpoints stop the machine: those of all processors, or of one; what others hit meanwhile is
// ignored, or found again when all go on.
typedef enum { STOPS_OF_ALL, STOPS_OF_ONE, STOPS_OF_ONE_FIRST } StopScope;

// What was met in an instant, before it is reported.
typedef struct {
  Stop stop;
  uint64_t instant;
  uint32_t pc; // of an instruction
} Met;

// Whether the machine stops before an instruction: other stops follow what happened.
static inline bool stop_is_of_instruction(const Stop *stop) {
  return stop->kind == STOP_BREAKPOINT || stop->kind == STOP_STEPPED;
}

#endif
