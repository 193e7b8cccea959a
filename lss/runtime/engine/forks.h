// Forks of a run: processes that go on by themselves from an instant of it, and of which only a result comes back.
//
// A module forks the run where it wants to know what the machine would do, while the run itself does something else.
// Both processes continue in the function that forked, in the same cycle with the same state.  The fork leaves no
// trace: what it prints, writes or reads from a console goes nowhere.  It ends when its module has the result, and with
// the run at the latest.
//
// How many forks execute at once decides about time only.  A module takes the results in statistics(), where they join
// counters: it waits there for all forks that began before, so what a run shows at an instant does not depend on when
// the processes ended.
//
// To use it, a module includes this header; `id` is self->spinach_id.
#ifndef SPINACH_FORKS_H
#define SPINACH_FORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FORK_RESULT = 256 }; // bytes of a result, at most

typedef enum {
  FORK_NONE,   // all results were taken
  FORK_ENDED,  // with a result
  FORK_OVER,   // the machine ended before there was one, or a signal ended the run
  FORK_FAILED, // by an error, which was reported in one line
} fork_outcome;

// In phase_end: forks the run, after others have ended if as many as may execute at once do.  Returns true in the fork.
// `what` and `number` name it in messages: "window 12".
bool fork_begin(uint32_t id, const char *what, uint64_t number);
// In a fork: this is its result, and it ends.
_Noreturn void fork_end(const void *result, size_t size);
// In statistics(): the outcome, and the result, of the oldest fork of this module that was not taken yet.
fork_outcome fork_take(uint32_t id, void *result, size_t size);

// ---- For the runtime -----------------------------------------------------------------------------------------------

// How many forks execute at once; 0: the run waits for each of them.
void spinach_forks_limit(uint64_t most);
// What a fork does when its module has returned: it steps the machine, and does not return.  `detach` is called first:
// what observes the run observes the fork no more.
void spinach_forks_prepare(void (*detach)(void), void (*go_on)(void));
// Before the state is kept: results of all forks that began join it.
void spinach_forks_join(void);
// The state is looked at wherever the run is left: results join it after each advance.
void spinach_forks_join_always(void);
// In a fork: the machine has ended without a result, by itself or by an error.
_Noreturn void spinach_fork_over(void);
_Noreturn void spinach_fork_fail(const char *text);

#endif
