// What transfers on an I/O bus take, and how they fail by plan: for the modules that carry them.  Times are exact
// (clock/exact_time.h), whatever a module's clock is.
#ifndef BUS_TRANSFER_H
#define BUS_TRANSFER_H

#include "clock/exact_time.h"
#include "generic/fault_plan.h"

// How a transfer may fail, and how rules of a plan call it: reads, then writes.
enum { BUS_FAULT_READ_ABORT, BUS_FAULT_READ_PARITY, BUS_FAULT_WRITE_ABORT, BUS_FAULT_WRITE_PARITY, BUS_FAULTS };
static const char *const bus_faults[BUS_FAULTS] = {"read_abort", "read_parity", "write_abort", "write_parity"};

// Their names, for FAULT_PLAN_REQUIRE.
#define BUS_FAULT_KINDS "read_abort, read_parity, write_abort and write_parity"

// The fault of a transfer, the so many-th of its direction, -1: none; `draw` gives 64 random bits.
#define BUS_FAULT_STRIKES(plan, write, at_number, draw)                                                                \
  FAULT_STRIKES(plan, bus_faults, BUS_FAULTS, (write) ? BUS_FAULT_WRITE_ABORT : BUS_FAULT_READ_ABORT,                  \
                (write) ? BUS_FAULTS : BUS_FAULT_WRITE_ABORT, at_number, draw)

// Keeps what `who` number i requests, since now, until its turn comes: in waiting, waiting_since, waiting_lanes.
#define BUS_KEEP_REQUEST(i, who, request)                                                                              \
  do {                                                                                                                 \
    self->waiting[i] = request;                                                                                        \
    self->waiting_since[i] = now();                                                                                    \
    self->waiting_lanes |= UINT64_C(1) << (i);                                                                         \
    if (self->waiting[i].length == 0) sim_error(who " %d requests a bus transfer of no bytes", i);                     \
  } while (0)

// A time in femtoseconds.
static inline exact_time bus_time(int64_t femtoseconds, uint64_t ticks) {
  return femtoseconds ? exact_time_of((uint64_t)femtoseconds, 1000000000000000, ticks) : exact_time_at(0);
}

// What a word takes on a bus of this clock, in thousandths of a tick.
static inline uint64_t bus_word_time(double clock, double overhead, uint64_t ticks) {
  return (uint64_t)((double)ticks * 1000.0 / clock * (1.0 + overhead) + 0.5);
}

// Words of `width` bytes from the first one up to and with the one that holds byte `moved` - 1 of a transfer whose
// first byte is at `first` in its word.
static inline uint64_t bus_words(uint32_t first, uint32_t moved, uint32_t width) {
  return (first + moved + width - 1) / width;
}

// When what was requested at an instant begins on a bus that is free from this time on.
static inline exact_time bus_begins(exact_time free_at, uint64_t requested_at) {
  return exact_time_later(free_at, exact_time_at(requested_at));
}

// When the words up to byte `moved` of a transfer have been carried.  Needs the fields that it names.
#define BUS_CARRIED(moved)                                                                                             \
  exact_time_add(self->start, bus_words(self->first_byte, moved, (uint32_t)param(bus_width)), self->word_time)

// An end that made the bus wait shifts the rest of its transfer: `carried` is when what has moved was to be carried.
#define BUS_SHIFT_REST(carried)                                                                                        \
  do {                                                                                                                 \
    const exact_time limit = exact_time_sum(carried, exact_time_at(clock_period()));                                   \
    const exact_time present = exact_time_at(now());                                                                   \
    if (exact_time_before(limit, present))                                                                             \
      self->start = exact_time_sum(self->start, exact_time_since(limit, present));                                     \
  } while (0)

// The instant from which on a cycle ends when a bus is free that is so at this time.
static inline uint64_t bus_free_from(exact_time time, uint64_t period) {
  return exact_time_cycle_to(exact_time_instant_after(time), period);
}

#endif
