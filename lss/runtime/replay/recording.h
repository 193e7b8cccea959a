// The words of modules in the step that is written down for replay: what it reads of memories, notes in traces and
// counts in cycles.  Included after vocabulary.h, which has the same words for other steps.
#include "lss/runtime/replay/record.h"

#undef SP_COUNT_CYCLES
#undef SP_REPORT
#undef SP_NOTE
#undef SP_NOTE_RING
#undef SP_LOAD
#undef SP_STORE
#undef SP_LOAD_SPAN
#undef SP_STORE_SPAN

#define SP_COUNT_CYCLES(counter, on)                                                                                   \
  (spinach_replay_counted_cycles(&(counter), (on) ? -1 : 1),                                                           \
   (void)((counter) += (on) ? -spinach_time.cycle : spinach_time.cycle))
#define SP_REPORT(counter, v)         (spinach_effects++, (void)((counter) = (v)))
#define SP_NOTE(value, ...)           ((void)((value) = (__VA_ARGS__)), spinach_replay_noted(&(value)))
#define SP_NOTE_RING(all, state, ...) spinach_replay_noted(SP_NOTE_IN(all, state, __VA_ARGS__))
#define SP_LOAD(array, i)                                                                                              \
  (*({                                                                                                                 \
    const __typeof__((array)[0]) *const spinach_place = &(array)[i];                                                   \
    spinach_replay_loaded(spinach_place, sizeof *spinach_place);                                                       \
    spinach_place;                                                                                                     \
  }))
#define SP_STORE(array, i, ...)                                                                                        \
  do {                                                                                                                 \
    __typeof__((array)[0]) *const spinach_place = &(array)[i];                                                         \
    spinach_replay_stored(spinach_place);                                                                              \
    *spinach_place = (__VA_ARGS__);                                                                                    \
  } while (0)
#define SP_LOAD_SPAN(array, i, n)                                                                                      \
  ({                                                                                                                   \
    const __typeof__((array)[0]) *const spinach_place = &(array)[i];                                                   \
    spinach_replay_loaded(spinach_place, (n) * sizeof *spinach_place);                                                 \
    spinach_place;                                                                                                     \
  })
#define SP_STORE_SPAN(array, i, n)                                                                                     \
  ({                                                                                                                   \
    __typeof__((array)[0]) *const spinach_place = &(array)[i];                                                         \
    spinach_replay_stored(spinach_place);                                                                              \
    spinach_place;                                                                                                     \
  })
