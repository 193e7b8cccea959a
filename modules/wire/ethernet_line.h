// Byte-accurate time of an Ethernet line, as IEEE 802.3 has it: preamble, frame with FCS, gap.  Used by all
// that take frames from a wire; what sends them on one is in ethernet_transmitter.h.  Times are exact
// (clock/exact_time.h), instants are ticks.
#ifndef ETHERNET_LINE_H
#define ETHERNET_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/exact_time.h"
#include "wire/ethernet_fcs.h"

// What a byte takes at so many bits per second, in thousandths of a tick: at most 2^52.
static inline uint64_t ethernet_time_of_byte(double rate, uint64_t ticks_per_second) {
  return (uint64_t)((double)ticks_per_second * 1000.0 * 8.0 / rate + 0.5);
}

// What a frame of `length` bytes takes on the line, preamble and gap included, in bytes.
#define LINE_BYTES(length) ((uint64_t)(length) + (uint64_t)param(preamble) + (uint64_t)param(gap))

// For next_event: the first cycle, from the coming one on, at the instant or later.
static inline uint64_t line_cycle_at(uint64_t instant, uint64_t cycle, uint64_t now, uint64_t period) {
  if (instant == UINT64_MAX) return UINT64_MAX;
  return instant <= now ? cycle : cycle + (instant - now + period - 1) / period;
}

// A beat is taken at the instant `now`; a frame has `preamble` bytes before it.  Returns the place of its bytes in the
// frame.
static inline uint32_t line_take(line_receiver *line, const wire_beat_64 *beat, uint64_t now, uint64_t period,
                                 uint64_t byte_time, uint64_t preamble) {
  if (!line->taking) {
    line->due = now >= exact_time_instant(line->due) + period ? exact_time_at(now) : exact_time_in_order(line->due);
    line->due = exact_time_add(line->due, preamble, byte_time);
    line->position = 0;
    line->fcs = ETHERNET_FCS_START;
    line->taking = true;
    line->late = !beat->start;
  } else {
    // Only what comes in a later cycle than the first one that may can be late.
    const bool waited = now >= line->opens_at + period;
    line->late |=
        beat->start || (waited && now >= exact_time_instant_after(exact_time_step(line->due, 8 * byte_time)) + period);
  }
  const uint32_t at = line->position;
  line->fcs = ethernet_fcs(line->fcs, beat->bytes, beat->count);
  line->position += beat->count;
  line->due = exact_time_step(line->due, beat->count * byte_time);
  return at;
}

// Whether the frame whose last beat was just taken is faulty.
static inline bool line_is_faulty(const line_receiver *line, bool error, uint32_t least, uint32_t most) {
  return line->late || error || line->fcs != ETHERNET_FCS_RESIDUE || line->position < least || line->position > most;
}

#endif
