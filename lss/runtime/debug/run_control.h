// Moving through the time of a run, forwards and backwards, until something is met that somebody looks for.
//
// What happens is the run's alone: breakpoints and watchpoints are compared with what retires and what memory holds
// after each instant, and change neither.  A processor is stopped before the instant in which the instruction retires;
// since that is known only once it does, the machine goes an instant back.  Backwards is going back to a mark
// (history.h) and doing again what was done, as often as it takes to find the last time.
#ifndef SPINACH_RUN_CONTROL_H
#define SPINACH_RUN_CONTROL_H

#include "lss/runtime/debug/cores.h"

typedef enum {
  STOP_REQUESTED,  // by somebody outside
  STOP_STEPPED,    // the instruction was executed, or taken back
  STOP_BREAKPOINT, // the instruction at one is next
  STOP_WATCHPOINT, // what it watches has changed
  STOP_CONDITION,  // of run_control_until()
  STOP_BEGINNING,  // of the history
  STOP_OVER,       // the run is over; run_control_why() says why
  STOP_FAILED      // the next instant ends the run with an error; run_control_why() says which
} StopKind;

typedef struct {
  StopKind kind;
  guint core;       // whose it is, from 1
  bool hardware;    // of a breakpoint
  uint32_t address; // of a watchpoint
} Stop;

// Begins to keep history; call between instants.  `requested` is called now and then while the machine runs.
void run_control_begin(uint64_t history, bool (*requested)(void));

// Whose breakpoints and watchpoints stop the machine: those of all processors, or of one; what others hit meanwhile is
// ignored, or found again when all go on.
typedef enum { STOPS_OF_ALL, STOPS_OF_ONE, STOPS_OF_ONE_FIRST } StopScope;
// Until something; `stepped`: also after one instruction of `core`.
Stop run_control_forward(guint core, bool stepped, StopScope scope);
Stop run_control_backward(guint core, bool stepped);
const char *run_control_why(void);
// Whether the last stop said that the run is over or fails, and it is still there.
bool run_control_is_at_end(void);
// Lets the run end as it was found to: returns why; after an error it does not return.
const char *run_control_end(void);
void run_control_leave(void); // no more history

// The state was changed from outside: the past is forgotten, and what was written to files after this
// instant is dropped.
void run_control_change(void);
void run_control_let_go(void); // of processors that stand still

// The address of the instruction that the processor retires next.
uint32_t run_control_pc(guint core);

// Makes the processor stand still before that instruction with nothing in flight, so that its state can be changed; the
// past is forgotten.  On failure returns false and sets *error to words that stay valid.
bool run_control_drain(guint core, const char **error);
void run_control_set_pc(guint core, uint32_t pc); // of a drained one

// Both return false when there is no such processor.
bool run_control_break(guint core, uint32_t address, bool hardware, bool set);
// Bytes whose values are watched, on behalf of a processor.
bool run_control_watch(guint core, uint32_t address, uint32_t count, bool set);
void run_control_forget(guint core); // everything that was set for it; 0: for all
// The state on which to stop when it becomes true, or NULL.
void run_control_until(bool (*holds)(void));

#endif
