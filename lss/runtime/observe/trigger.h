// Conditions that are waited for while the machine runs, and where the engine must stop for them.
//
// Triggers are looked at between instants: each says whether its condition has come true since the last look.  What all
// of them wait for decides how far the engine may go until the next look: up to a time or a cycle known before, to the
// event that generated code counts and pauses for, or, when a state is compared, one instant.
#ifndef SPINACH_TRIGGER_H
#define SPINACH_TRIGGER_H

#include "lss/runtime/engine/request.h"

typedef struct spinach_trigger {
  const spinach_condition *condition;
  const struct spinach_trigger *after; // it is looked at once that one came true; NULL: from the start
  int watch;                           // which of the events that are counted; -1: none
  uint64_t base;                       // how often its event had happened when it began to be counted
  spinach_count goal;                  // femtoseconds, cycles, times or value with which it comes true next
  spinach_count due;                   // some time after its event: when, in femtoseconds; 0: that has not happened
  spinach_count fired;                 // likewise, when it came true last
  bool waiting;
  bool repeats, held; // held: it was true at the last look
  bool begun;         // it was looked at
  bool prolongs;      // a run goes on until the time or cycle that it waits for, whatever the machine does
} spinach_trigger;

// Starts to wait; triggers live as long as the run.
void spinach_trigger_start(spinach_trigger *trigger, const spinach_condition *condition, bool repeats);

// In a run that goes on from a checkpoint, whose time is not 0: events are counted from here on, what repeats comes
// true next at its first multiple that is not over, and what was to come true at the start comes true at once.  False:
// its time or cycle is over.
bool spinach_trigger_resume(spinach_trigger *trigger);

// Whether the condition has come true since the last look; also arms it for the next time.  A marker is the next one
// after `after` came true; one that some time follows is the first of the run.
bool spinach_trigger_fires(spinach_trigger *trigger);

// It is waited for, and what comes before it has come.
bool spinach_trigger_looked_at(const spinach_trigger *trigger);

// Whether it comes true with each multiple of a number: all that only grows.
bool spinach_trigger_counts(const spinach_condition *condition);

// Adds the words for `lss build` that count the events that conditions wait for and this simulator does not count.
void spinach_trigger_add_words(const spinach_options *options, GPtrArray *words);

// What a checkpoint keeps of a trigger, and back; an empty text: it waits for nothing.
#define TRIGGER_TYPE "(st(tt)bbb(tt))"
GVariant *spinach_trigger_pack(const spinach_trigger *trigger);
// Takes it over if the condition is the same; returns whether it is.
bool spinach_trigger_unpack(spinach_trigger *trigger, GVariant *packed);

// Which of the events that are counted this is (spinach_condition.watch); -1: none.
int spinach_watch_find(const char *text);

// How often an event that is counted has happened.
uint64_t spinach_watch_count(int watch);

// After all were looked at: lets generated code pause the run when the next event comes.
void spinach_triggers_arm(void);

// The instant before which the engine need not stop for any trigger, at most `tick`.
uint64_t spinach_triggers_tick(uint64_t tick);

// No condition on a time after that instant has come true: the run may end between it and the next instant.
void spinach_triggers_limit(uint64_t instant);

// The run has gone back in time: what comes true once may do so again.
void spinach_triggers_again(void);

// Whether some compares a state, which has to be looked at after each instant; `passing`: one that may change in time
// that is skipped.
bool spinach_triggers_step(bool passing);

// Whether some waits for a time or cycle that makes the run go on until then.
bool spinach_triggers_prolong(void);

#endif
