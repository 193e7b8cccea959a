// The state of a whole machine by kinds, as loops compare it (repeats.h).
#ifndef LSS_RUNTIME_LOOP_STATE_H
#define LSS_RUNTIME_LOOP_STATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct spinach_loop_state spinach_loop_state;

spinach_loop_state *spinach_loop_state_new(void);
// Large arrays are not copied: from here on, or no longer, what is written there counts as an effect.
void spinach_loop_state_guard(bool on);
uint64_t *spinach_loop_state_counters(void); // a place for what each counter grew by

void spinach_loop_state_keep(spinach_loop_state *state); // a copy of the arena
// Whether a state, so many ticks later, is that state again: instants and stamps are where they were, or moved on.
bool spinach_loop_state_repeats(const spinach_loop_state *before, const spinach_loop_state *now, uint64_t ticks);
void spinach_loop_state_grown(const spinach_loop_state *before, const spinach_loop_state *now, uint64_t *grown);
bool spinach_loop_state_grows_so(const spinach_loop_state *before, const spinach_loop_state *now,
                                 const uint64_t *grown);
// Whether one of its instants and stamps has this value; `sort` comes before.
void spinach_loop_state_sort(spinach_loop_state *state);
bool spinach_loop_state_has_time(const spinach_loop_state *state, uint64_t value);

// What a state becomes by n loops more, of so many ticks, which are as those were that were compared last; its bytes,
// which stay, are taken from `now`.
void spinach_loop_state_work_out(spinach_loop_state *expected, spinach_loop_state *now, const uint64_t *grown,
                                 uint64_t n, uint64_t ticks);
void spinach_loop_state_apply(const spinach_loop_state *state); // into the arena, but the clocks
// They are the same, or the run ends with the first field that differs.
void spinach_loop_state_compare(const spinach_loop_state *expected, const spinach_loop_state *now);

#endif
