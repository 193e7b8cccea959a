// What the C of modules and the code generated around it know of the runtime.  Modules use it through the words of
// vocabulary.h.
#ifndef SPINACH_H
#define SPINACH_H

#include "lss/runtime/engine/flight.h"
#include "lss/runtime/engine/gate.h"
#include "lss/runtime/engine/leap.h"
#include "lss/runtime/engine/ring.h"
#include "lss/runtime/files/stream.h"
#include "lss/runtime/gateway/gateway_stream.h"
#include "lss/runtime/text/type.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
  SPINACH_STRING_SIZE = 4096, // bytes of the text of a string parameter, with its final zero: PATH_MAX
};
#define SPINACH_CONNECTION_ID 0x80000000u // marks the number of a connection among those of instances

// A string parameter in a state: how far from here its text is, which follows all states of the cluster.  Texts are
// long and do not change while the machine runs, so they are kept from what is compared and copied in doing so.
typedef uint64_t spinach_text;

static inline const char *spinach_text_at(const spinach_text *text) {
  return (const char *)text + *text;
}

// The instant at which the machine is: ticks of the time base, and of the clock whose functions run.
struct spinach_time {
  uint64_t now, cycle, period;
};
extern struct spinach_time spinach_time;
enum { SPINACH_STOP = 1, SPINACH_PAUSE = 2 };
extern int spinach_stopping; // of these: somebody asked to end the run after this instant

// The cycle that comes `cycles` cycles after the present one, and in how many cycles an instant comes: 0 when it is
// past. UINT64_MAX stays: it never comes.
static inline uint64_t spinach_after(uint64_t cycles) {
  return cycles == UINT64_MAX ? UINT64_MAX : spinach_time.cycle + cycles;
}
static inline uint64_t spinach_until(uint64_t instant) {
  if (instant == UINT64_MAX) return UINT64_MAX;
  return instant > spinach_time.cycle ? instant - spinach_time.cycle : 0;
}

// A stamp: `k` after now, which is a cycle or an instant; whether it came `k` ago or longer; in how long that will be.
static inline uint64_t spinach_stamp(uint64_t now, uint64_t k) {
  return k == UINT64_MAX ? UINT64_MAX : now + k;
}
static inline bool spinach_passed(uint64_t stamp, uint64_t k, uint64_t now) {
  return now >= stamp && now - stamp >= k;
}
static inline uint64_t spinach_until_passed(uint64_t stamp, uint64_t k, uint64_t now) {
  if (stamp == UINT64_MAX) return UINT64_MAX;
  return stamp + k > now ? stamp + k - now : 0;
}

// An event that a condition waits for: how often it has happened, and the count at which the run pauses.
typedef struct {
  uint64_t *count, goal;
} spinach_watch;
extern spinach_watch spinach_watches[]; // as spinach_machine.watches has them

// Where the signals of a connection are when they are visible (else all is NULL), and which of them (data, enable, ack)
// their module decides without looking at a signal: from its state and the time.
typedef struct {
  const void *data;
  const bool *some, *enable, *ack;
  bool from_state[3];
  bool may_refuse; // the receiver; else it accepts in every cycle
} spinach_observed;

// What becomes of the item on a connection in the cycle that was stepped last.
typedef enum { SPINACH_NOTHING, SPINACH_WAITS, SPINACH_CANCELLED, SPINACH_TRANSFERRED } spinach_handshake;

static inline spinach_handshake spinach_handshake_of(const spinach_observed *o) {
  if (!o->some || !*o->some) return SPINACH_NOTHING;
  if (!o->ack || !*o->ack) return SPINACH_WAITS;
  return !o->enable || *o->enable ? SPINACH_TRANSFERRED : SPINACH_CANCELLED;
}

// What modules do beside changing their state: a cycle in which that counts up is not replayed.
extern uint64_t spinach_effects;

// Whose C runs: which function of which instance, in debug builds; NULL when that is not known.
struct spinach_running {
  uint32_t id;
  const char *function;
};
extern struct spinach_running spinach_running;

// Counts the items that were transferred in the cycle of a clock that was stepped last (observe/tally.c); debug builds.
void spinach_tally(int clock);
void spinach_tally_event(uint32_t instance, int number, int64_t amount); // debug builds: what balances say of events

const char *spinach_path(uint32_t id);            // of an instance
const char *spinach_connection_path(uint32_t id); // "arb.in[1]"
void spinach_enter(uint32_t id);                  // the instance whose init or finish runs, in its domain
extern jmp_buf spinach_escape;                    // out of finish, awaits and check_state, after an error in it
uint64_t ticks_per_second(void);

// Of what generated code makes one function of: where nothing is optimised, calls are compiled sooner.
#ifdef __OPTIMIZE__
#define SPINACH_INLINE static inline __attribute__((always_inline))
#else
#define SPINACH_INLINE static inline
#endif

// Of the functions that step clusters: their callers keep little, so no registers are saved for them.
#if __has_attribute(preserve_none)
#define SPINACH_STEP __attribute__((preserve_none))
#else
#define SPINACH_STEP
#endif

_Noreturn void spinach_error(uint32_t id, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));
_Noreturn void spinach_input_error(uint32_t id, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));
// What the error that follows shows below its line: where two stretches of bytes differ.
void spinach_difference(const uint8_t *expected, size_t expected_bytes, const uint8_t *actual, size_t actual_bytes)
    __attribute__((cold));
void spinach_warn(uint32_t id, const char *file, int line, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));
void spinach_stop(uint32_t id, int32_t status, const char *format, ...) __attribute__((cold, format(printf, 3, 4)));
void spinach_progress(void);
// In awaits(): the instance waits for what comes through a port.
void spinach_waits_for(uint32_t id, const char *port, int lane, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));
_Noreturn void spinach_unknown(uint32_t id, const char *signal) __attribute__((cold));

// Checks of debug builds.
_Noreturn void spinach_bad_lane(int lane, int lanes, uint32_t id, const char *port) __attribute__((cold));
_Noreturn void spinach_bad_index(uint32_t id, long long index, const char *array, unsigned long elements,
                                 const char *file, int line, int column) __attribute__((cold));
_Noreturn void spinach_no_item(uint32_t id, const char *port, int lane) __attribute__((cold));
_Noreturn void spinach_bad_read(uint32_t id, const char *signal, int lane) __attribute__((cold));
_Noreturn void spinach_bad_write(bool partial, uint32_t id, const char *signal, int lane) __attribute__((cold));
_Noreturn void spinach_not_written(uint32_t id, const char *signal, int lane) __attribute__((cold));

static inline int spinach_check_lane(int lane, int lanes, uint32_t id, const char *port) {
  if (lane < 0 || lane >= lanes) spinach_bad_lane(lane, lanes, id, port);
  return lane;
}
static inline void spinach_check_read(bool known, uint32_t id, const char *signal, int lane) {
  if (!known) spinach_bad_read(id, signal, lane);
}
static inline void spinach_check_write(bool known, bool partial, bool same, uint32_t id, const char *signal, int lane) {
  if (known && !(partial && same)) spinach_bad_write(partial, id, signal, lane);
}
static inline void spinach_check_written(bool known, uint32_t id, const char *signal, int lane) {
  if (!known) spinach_not_written(id, signal, lane);
}

// Random bits by splitmix64; the seed comes from the run's seed and the instance's path.
void spinach_random_seed(uint32_t id, uint64_t *rng);
static inline uint64_t spinach_random_bits(uint64_t *rng) {
  uint64_t z = *rng += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A value that a collector reports: it joins the statistics of the collector's instance or connection.  `words` ends
// with NULL and is joined to the description.  A gauge is no count (`gauge stat`).
void spinach_report(uint32_t id, bool gauge, const char *name, bool real, uint64_t integer, double number,
                    const char *unit, const char *const *words);
#define SPINACH_REPORT(gauge, name, value, unit, ...)                                                                  \
  spinach_report(spinach_id, gauge, name, _Generic((value), float: true, double: true, default: false),                \
                 (uint64_t)(value), (double)(value), unit, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
#define report_value(name, value, unit, ...) SPINACH_REPORT(false, name, value, unit, __VA_ARGS__)
#define report_gauge(name, value, unit, ...) SPINACH_REPORT(true, name, value, unit, __VA_ARGS__)
// In the record code of a collector: the run ends as by sim_error() of the instance or connection.
#define report_error(...) spinach_error(spinach_id, __VA_ARGS__)

#endif
