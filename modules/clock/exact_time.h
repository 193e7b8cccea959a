// Exact time, for modules whose events fall between the ticks of the machine's time base, such as the bytes on a line
// or the words on a bus.  A time is ticks and thousandths of one, so it lasts as long as the machine's time does.  What
// one unit takes (a byte, a word) is a 64-bit number of thousandths.  A sum that no 64 bits hold, or that is past the
// end of time, is EXACT_TIME_OVER: nothing is ever due then.
//
// The thousandths may be more than a tick: adding to them is all that most steps do, and a division only puts them in
// order where times are compared.
#ifndef EXACT_TIME_H
#define EXACT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define EXACT_TIME_PARTS 1000u
// The last instant is 2^63 - 1; this is later by more than any clock's period, and a period more still fits.
#define EXACT_TIME_OVER (UINT64_C(3) << 62)

// An instant, or a clock's period.
static inline exact_time exact_time_at(uint64_t ticks) {
  return (exact_time){.ticks = ticks};
}

// As many thousandths after an instant, less than a tick of them left over.
static inline exact_time exact_time_after(uint64_t ticks, unsigned __int128 thousandths) {
  const unsigned __int128 sum = ticks + thousandths / EXACT_TIME_PARTS;
  if (sum >= EXACT_TIME_OVER) return exact_time_at(EXACT_TIME_OVER);
  return (exact_time){(uint64_t)sum, (uint64_t)(thousandths % EXACT_TIME_PARTS)};
}

// The same time with less than a tick of thousandths.
static inline exact_time exact_time_in_order(exact_time time) {
  const uint64_t ticks = time.ticks + time.thousandths / EXACT_TIME_PARTS;
  if (__builtin_expect(ticks >= EXACT_TIME_OVER, false)) return exact_time_at(EXACT_TIME_OVER);
  return (exact_time){ticks, time.thousandths % EXACT_TIME_PARTS};
}

// As many parts of a second as `per_second` are one, rounded down: femtoseconds, nanoseconds of a packet file.
static inline exact_time exact_time_of(uint64_t parts, uint64_t per_second, uint64_t ticks_per_second) {
  const unsigned __int128 ticks = (unsigned __int128)parts * ticks_per_second;
  if (ticks / per_second >= EXACT_TIME_OVER) return exact_time_at(EXACT_TIME_OVER);
  return (exact_time){(uint64_t)(ticks / per_second), (uint64_t)(ticks % per_second * EXACT_TIME_PARTS / per_second)};
}

static inline exact_time exact_time_sum(exact_time a, exact_time b) {
  a = exact_time_in_order(a);
  b = exact_time_in_order(b);
  uint64_t ticks;
  if (__builtin_add_overflow(a.ticks, b.ticks, &ticks)) return exact_time_at(EXACT_TIME_OVER);
  return exact_time_after(ticks, a.thousandths + b.thousandths);
}

__attribute__((noinline)) static exact_time exact_time_add_many(exact_time time, uint64_t count, uint64_t thousandths) {
  time = exact_time_in_order(time);
  return exact_time_after(time.ticks, (unsigned __int128)count * thousandths + time.thousandths);
}

// When `count` units have passed after a time, each of which takes so many thousandths.
static inline exact_time exact_time_add(exact_time time, uint64_t count, uint64_t thousandths) {
  uint64_t all, sum;
  if (__builtin_expect(__builtin_mul_overflow(count, thousandths, &all) ||
                           __builtin_add_overflow(time.thousandths, all, &sum) || sum > INT64_MAX,
                       false))
    return exact_time_add_many(time, count, thousandths);
  return (exact_time){time.ticks, sum};
}

// The same for a step of less than 2^62 thousandths, in as few instructions as there can be.
static inline exact_time exact_time_step(exact_time time, uint64_t thousandths) {
  time.thousandths += thousandths;
  if (__builtin_expect((int64_t)time.thousandths < 0, false)) return exact_time_in_order(time);
  return time;
}

static inline bool exact_time_before(exact_time a, exact_time b) {
  a = exact_time_in_order(a);
  b = exact_time_in_order(b);
  return a.ticks != b.ticks ? a.ticks < b.ticks : a.thousandths < b.thousandths;
}

static inline exact_time exact_time_later(exact_time a, exact_time b) {
  return exact_time_in_order(exact_time_before(a, b) ? b : a);
}

// What has passed since an earlier time.
static inline exact_time exact_time_since(exact_time earlier, exact_time later) {
  earlier = exact_time_in_order(earlier);
  later = exact_time_in_order(later);
  const bool borrows = later.thousandths < earlier.thousandths;
  return (exact_time){later.ticks - earlier.ticks - borrows,
                      later.thousandths + (borrows ? EXACT_TIME_PARTS : 0) - earlier.thousandths};
}

// The first instant that is at a time or later.
static inline uint64_t exact_time_instant(exact_time time) {
  return time.ticks + (time.thousandths + EXACT_TIME_PARTS - 1) / EXACT_TIME_PARTS;
}

// The last instant that is not later than a time, and the first one that is.
static inline uint64_t exact_time_ticks(exact_time time) {
  return time.ticks + time.thousandths / EXACT_TIME_PARTS;
}

static inline uint64_t exact_time_instant_after(exact_time time) {
  return exact_time_ticks(time) + 1;
}

// The instant from which on a cycle ends at `instant` or later.
static inline uint64_t exact_time_cycle_to(uint64_t instant, uint64_t period) {
  return instant > period ? instant - period : 0;
}

static inline uint64_t exact_time_nanoseconds(exact_time time, uint64_t ticks_per_second) {
  const unsigned __int128 parts = (unsigned __int128)time.ticks * EXACT_TIME_PARTS + time.thousandths;
  const unsigned __int128 product = parts * (1000000000u / EXACT_TIME_PARTS);
  if (product <= UINT64_MAX) return (uint64_t)product / ticks_per_second;
  return product / ticks_per_second > UINT64_MAX ? UINT64_MAX : (uint64_t)(product / ticks_per_second);
}

#endif
