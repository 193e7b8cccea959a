// Byte-accurate time of an Ethernet line, as IEEE 802.3 has it: preamble, frame with FCS, gap.  Used by all that are an
// end of a wire.  Times are thousandths of a tick, instants are ticks.
#ifndef ETHERNET_LINE_H
#define ETHERNET_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/ethernet_fcs.h"

// An instant, or a clock's period, as a time.
#define ETHERNET_TIME(ticks) ((uint64_t)(ticks) * 1000)

// What a byte takes at so many bits per second.
static inline uint64_t ethernet_time_of_byte(double rate, uint64_t ticks_per_second) {
  return (uint64_t)((double)ticks_per_second * 1000.0 * 8.0 / rate + 0.5);
}

// The instant from which on a cycle ends at `due` or later.
static inline uint64_t ethernet_reached(uint64_t due, uint64_t period) {
  uint64_t end = (due + 999) / 1000;
  return end > period ? end - period : 0;
}

static inline uint32_t line_beat_bytes(const line_transmitter *line) {
  uint32_t left = line->length - line->position;
  return left < 8 ? left : 8;
}

// Sleeps until the next beat has arrived by the cycle in which it would be offered.  The last one is made ready in the
// cycle before; the others, whole and plain, just appear when they are due, and are looked at again, in the same cycle,
// only for the next one.
static inline void line_await_beat(line_transmitter *line, uint64_t byte_time, uint64_t period) {
  line->due += line_beat_bytes(line) * byte_time;
  line->wake = ethernet_reached(line->due, period);
  const bool plain = line->length - line->position > 8;
  if (plain) line->wake += period;
  line->plain_at = plain ? line->wake : UINT64_MAX;
}

// A frame begins, whose preamble has left at `due`.
static inline void line_begin(line_transmitter *line, uint64_t due, uint64_t byte_time, uint64_t period) {
  line->playing = true;
  line->due = due;
  line->position = 0;
  line_await_beat(line, byte_time, period);
}

// The beat that is offered while the last one is not: the one that begins at `bytes`.
static inline wire_beat_64 line_plain_beat(const line_transmitter *line, const uint8_t *bytes) {
  wire_beat_64 plain = {.count = 8, .start = line->position == 0};
  memcpy(&plain.bytes, bytes, 8);
  return plain;
}

// Offers the last beat, which has arrived and begins at `bytes`, in `cycle`; `gap` is the time that follows it.
static inline void line_play_last(line_transmitter *line, const uint8_t *bytes, bool error, uint64_t cycle,
                                  uint64_t gap) {
  const uint32_t left = line->length - line->position;
  wire_beat_64 beat = {.count = (uint8_t)left, .start = line->position == 0, .end = true, .error = error};
  memcpy(&beat.bytes, bytes, 8);
  line->beat = beat;
  line->beat_cycle = cycle;
  line->wake = 0;
  line->line_free = line->due + gap;
  line->playing = false;
}

// A beat is taken at the instant `now`.  Returns the place of its bytes in the frame.
static inline uint32_t line_take(line_receiver *line, const wire_beat_64 *beat, uint64_t now, uint64_t period,
                                 uint64_t byte_time, uint64_t preamble) {
  if (!line->taking) {
    if (ETHERNET_TIME(now) >= line->due + ETHERNET_TIME(period)) line->due = ETHERNET_TIME(now);
    line->due += preamble;
    line->position = 0;
    line->fcs = ETHERNET_FCS_START;
    line->taking = true;
    line->late = !beat->start;
  } else {
    line->late |= beat->start || ETHERNET_TIME(now) > line->due + 8 * byte_time + ETHERNET_TIME(period);
  }
  const uint32_t at = line->position;
  line->fcs = ethernet_fcs(line->fcs, beat->bytes, beat->count);
  line->position += beat->count;
  line->due += beat->count * byte_time;
  return at;
}

// Whether the frame whose last beat was just taken is faulty.
static inline bool line_is_faulty(const line_receiver *line, bool error, uint32_t least, uint32_t most) {
  return line->late || error || line->fcs != ETHERNET_FCS_RESIDUE || line->position < least || line->position > most;
}

#endif
