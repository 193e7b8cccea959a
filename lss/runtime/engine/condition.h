// Conditions on the command line: when a run ends, and when what it counted is written down.
//
//   8 ms                      that much simulated time has passed
//   cycles(CLOCK) >= N        the clock has done N cycles; "fastest" is the fastest one
//   PATH.STATE >= N           a state or statistic compares so, with any of == != < <= > >=
//   event(PATH.EVENT)         the event happened; PATH may be a pattern, and a port when EVENT is one of connections
//   event(PATH.EVENT, N)      it happened N times since the run began
//   event(PATH.EVENT(ARGUMENT == N))   it happened with such an argument; any of == != < <= > >=
//   marker(N)                 a processor passed the marker N of its program
//   marker(N) + 40 ms         that much simulated time after it; likewise after event(...)
//   end                       the run is over
//
// A condition is looked at between instants, and says something about all that happened before.
#ifndef SPINACH_CONDITION_H
#define SPINACH_CONDITION_H

#include "lss/runtime/engine/names.h"

typedef enum {
  SPINACH_NO_CONDITION,
  SPINACH_AT_TIME,
  SPINACH_AT_CYCLES,
  SPINACH_AT_STATE,
  SPINACH_AT_EVENT,
  SPINACH_AT_MARKER,
  SPINACH_AT_END
} spinach_condition_kind;

typedef unsigned __int128 spinach_count; // femtoseconds of 64 bits are five hours

typedef struct {
  spinach_condition_kind kind;
  const char *text;                 // as it was given
  const spinach_clock *clock;       // CYCLES
  spinach_place place;              // STATE
  char relation[3];                 // STATE, and EVENT with an argument: one of == != < <= > >=
  int64_t number;                   // likewise
  spinach_count count;              // TIME: femtoseconds; CYCLES, EVENT: how many
  bool relative;                    // EVENT, MARKER: it comes true some time after its event,
  spinach_count later;              // these femtoseconds
  char *watch;                      // EVENT, MARKER: what counts it (spinach_machine.watches)
  char *pattern, *event, *argument; // EVENT, MARKER: the parts of that; without an argument NULL
} spinach_condition;

// What happens on connections, in the order of their counts (spinach_connection).
enum { SPINACH_CONNECTION_EVENTS = 4 };
extern const char *const spinach_connection_events[SPINACH_CONNECTION_EVENTS];
int spinach_connection_event(const char *name); // which of them; -1: none
bool spinach_connection_matches(const char *pattern,
                                const spinach_connection *connection); // one of its ends, or a port that it passes

// A time in ticks, rounded up; UINT64_MAX when there are more.
uint64_t spinach_ticks(spinach_count femtoseconds);

// Reads all of `text`, which must outlive the condition.  On failure prints a line that begins with the option's name
// and returns false.
bool spinach_condition_parse(const char *option, const char *text, spinach_condition *condition);
void spinach_condition_clear(spinach_condition *condition);

// The instant from which on a condition on time or cycles holds: all before it have to be done.  UINT64_MAX for others.
uint64_t spinach_condition_tick(const spinach_condition *condition, spinach_count count);

// Whether one on time or cycles came true before the present instant, after the start of the run.
bool spinach_condition_over(const spinach_condition *condition);

// The state of a condition, and whether it compares as the condition says.
int64_t spinach_condition_value(const spinach_condition *condition);
bool spinach_condition_compares(const spinach_condition *condition);
// The same of another value: that of an event's argument.
bool spinach_condition_holds_for(const spinach_condition *condition, int64_t value);

#endif
