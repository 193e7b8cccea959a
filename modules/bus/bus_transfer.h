// What transfers on an I/O bus take, and how they fail by plan: for the modules that carry them.  Times are thousandths
// of a tick of the machine's time base, so that they are kept exactly whatever a module's clock is.
#ifndef BUS_TRANSFER_H
#define BUS_TRANSFER_H

#include "generic/fault_plan.h"

// How a transfer may fail, and how rules of a plan call it: reads, then writes.
enum { BUS_FAULT_READ_ABORT, BUS_FAULT_READ_PARITY, BUS_FAULT_WRITE_ABORT, BUS_FAULT_WRITE_PARITY, BUS_FAULTS };
static const char *const bus_faults[BUS_FAULTS] = {"read_abort", "read_parity", "write_abort", "write_parity"};

// What is wrong with a plan, for a message that begins with the rule.
#define BUS_FAULT_KINDS                                                                                                \
  "is not a rule; rules are KIND@N, KIND/N or KIND%%P, kinds read_abort, read_parity, write_abort and write_parity"

// The fault of a transfer, the so many-th of its direction, -1: none; `draw` gives 64 random bits.
#define BUS_FAULT_STRIKES(plan, write, at_number, draw)                                                                \
  FAULT_STRIKES(plan, bus_faults, BUS_FAULTS, (write) ? BUS_FAULT_WRITE_ABORT : BUS_FAULT_READ_ABORT,                  \
                (write) ? BUS_FAULTS : BUS_FAULT_WRITE_ABORT, at_number, draw)

// Keeps what `who` number i requests, since `now_`, until its turn comes: in waiting, waiting_since, waiting_lanes.
#define BUS_KEEP_REQUEST(i, who, request, now_)                                                                        \
  do {                                                                                                                 \
    self->waiting[i] = request;                                                                                        \
    self->waiting_since[i] = now_;                                                                                     \
    self->waiting_lanes |= UINT64_C(1) << (i);                                                                         \
    if (self->waiting[i].length == 0) sim_error(who " %d requests a bus transfer of no bytes", i);                     \
  } while (0)

// A time in femtoseconds.
static inline uint64_t bus_time(int64_t femtoseconds, uint64_t ticks) {
  return (uint64_t)((unsigned __int128)femtoseconds * ticks / 1000000000000u);
}

// What a word takes on a bus of this clock.
static inline uint64_t bus_word_time(double clock, double overhead, uint64_t ticks) {
  return (uint64_t)((double)ticks * 1000.0 / clock * (1.0 + overhead) + 0.5);
}

// Words of `width` bytes from the first one up to and with the one that holds byte `moved` - 1 of a transfer whose
// first byte is at `first` in its word.
static inline uint64_t bus_words(uint32_t first, uint32_t moved, uint32_t width) {
  return (first + moved + width - 1) / width;
}

// A time in nanoseconds.
static inline uint64_t bus_nanoseconds(uint64_t time, uint64_t ticks) {
  return time * 1000000 / ticks;
}

// The instant from which on a cycle ends when a bus is free that is so at this time.
static inline uint64_t bus_free_from(uint64_t time, uint64_t period) {
  const uint64_t end = time / 1000 + 1;
  return end > period ? end - period : 0;
}

#endif
