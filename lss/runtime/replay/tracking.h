// The words of modules in the step that is tracked for a loop (repeats.h): what depends on the time is noted, and what
// is beside the state ends the attempt.  Included after vocabulary.h, which has the same words for other steps.
#include "lss/runtime/replay/repeats.h"

#undef SP_STORE
#undef SP_STORE_SPAN
#undef SP_UNTIL
#undef SP_WITHIN
#undef SP_PASSED
#undef SP_ELAPSED
#undef SP_DUE
#undef SP_IS_CYCLE
#undef SP_CYCLE_MODULO
#undef SP_TIME
#undef SP_AFTER

#define SP_STORE(array, i, ...)                                                                                        \
  do {                                                                                                                 \
    __typeof__((array)[0]) *const spinach_place = &(array)[i], spinach_before = *spinach_place;                        \
    *spinach_place = (__VA_ARGS__);                                                                                    \
    spinach_effects += memcmp(&spinach_before, spinach_place, sizeof spinach_before) != 0;                             \
  } while (0)
#define SP_STORE_SPAN(array, i, n) (spinach_effects++, &(array)[i])
#define SP_UNTIL(instant)          spinach_tracked_until(&(instant))
#define SP_WITHIN(instant, k)      spinach_tracked_within(&(instant), (k))
#define SP_PASSED(stamp, k)        spinach_tracked_passed(&(stamp), (k), SP_stamp_now, SP_stamp_unit)
#define SP_ELAPSED(stamp)          spinach_tracked_elapsed(&(stamp), SP_stamp_now)
#define SP_DUE(instant)            spinach_tracked_due(instant)
#define SP_IS_CYCLE(c)             spinach_tracked_is((c), spinach_time.cycle, spinach_time.period)
#define SP_CYCLE_MODULO(n)         spinach_tracked_modulo((uint64_t)(n))
#define SP_TIME                    (spinach_effects++, spinach_time)
#define SP_AFTER(k)                (spinach_effects++, spinach_after(k))

#define stream_read(...)           (spinach_tracked_file(), stream_read(__VA_ARGS__))
#define stream_line(...)           (spinach_tracked_file(), stream_line(__VA_ARGS__))
#define stream_write(...)          (spinach_tracked_file(), stream_write(__VA_ARGS__))
#define stream_printf(...)         (spinach_tracked_file(), stream_printf(__VA_ARGS__))
#define stream_flush(...)          (spinach_tracked_file(), stream_flush(__VA_ARGS__))
#define stream_restart(...)        (spinach_tracked_file(), stream_restart(__VA_ARGS__))
#define stream_terminal_read(...)  (spinach_tracked_file(), stream_terminal_read(__VA_ARGS__))
#define stream_terminal_write(...) (spinach_tracked_file(), stream_terminal_write(__VA_ARGS__))
#define gateway_receive(...)       (spinach_tracked_file(), gateway_receive(__VA_ARGS__))
#define gateway_send(...)          (spinach_tracked_file(), gateway_send(__VA_ARGS__))
#define packet_next(...)           (spinach_tracked_file(), packet_next(__VA_ARGS__))
#define packet_at(...)             (spinach_tracked_file(), packet_at(__VA_ARGS__))
#define packet_write(...)          (spinach_tracked_file(), packet_write(__VA_ARGS__))
