// What others do while time passes, called by the engine.  Each of them fills in its part before the run begins, or
// when it has something to do; what is NULL is not called.
#ifndef SPINACH_HOOKS_H
#define SPINACH_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct spinach_hooks {
  // ---- wave: around each instant that is stepped, and, with `steps` false, before each one that is jumped over
  void (*before_instant)(uint64_t instant, const uint64_t *due, bool steps);
  void (*after_instant)(void);

  // ---- idle_check: around an advance of one instant
  void (*before_step)(const uint64_t *cycles, const uint64_t *due, uint64_t instant);
  void (*after_step)(void);

  // ---- check: around each instant that would be jumped over, and is stepped all the same, with what follows it for
  // `skipped_after` cycles of the fastest clock
  uint64_t skipped_after;
  void (*before_skipped)(void);
  void (*after_skipped)(const uint64_t *cycles_before);

  // ---- replay: in place of a cluster's own next_event; before states are looked at; before they change
  uint64_t (*next_event)(int32_t cluster, uint64_t (*ask)(const void *state));
  void (*synchronize)(void);
  void (*leave)(void);

  // ---- repeats
  // The instant before which it is looked whether the machine repeats itself; UINT64_MAX: nowhere.
  uint64_t look_at;
  // There: ticks by which the machine was taken on, less than to `limit`.  *endless, if that is to be noticed: it
  // repeats itself, and nothing ends that, so that it was not taken on; else it becomes false.
  uint64_t (*take_on)(uint64_t now, uint64_t limit, bool *endless);
  void (*forget)(void);            // it was not looked there, or the state was changed
  uint64_t (*repeats_until)(void); // the machine repeats itself until then, unless something comes; 0: it may not
  void (*comes)(uint64_t instant); // before the state changes by something that acts at that instant at the earliest
  bool tracked;                    // what has no place in a loop is to be noticed: `watch` of the machine and not `run`

  // ---- forks: in a fork of the run, in place of the rest of it; after an advance, with results of forks joined
  void (*go_on)(void);
  void (*after_advance)(void);

  // ---- link, in the simulator of a part
  // An item leaves over a link, and arrives at `instant`.
  void (*send)(uint32_t link, uint64_t instant, const void *item);
  // Between two steps: what has come is put into the state, and the instant returned before which may be stepped.  If
  // that is not after `now`, the next instant, it is waited for; only where the run is to end it is not after `now`
  // then.
  uint64_t (*reach)(uint64_t now);
  // The same instant if this machine does nothing before `own` unless something comes, which is not waited for.
  uint64_t (*reach_on)(uint64_t now, uint64_t own);
  // All that was sent to this machine before this instant is in the state; and what takes it back to such an instant.
  uint64_t came;
  void (*go_back)(uint64_t came);
  void (*forget_came)(uint64_t came); // it is not taken back further than that
  // `reach` is called again at this instant, if the machine is stepped there: a promise to others is due.
  uint64_t reach_again;

  // ---- observe: a line for each cycle, so that none is jumped over
  bool each_cycle;
};
extern struct spinach_hooks spinach_hooks;

#endif
