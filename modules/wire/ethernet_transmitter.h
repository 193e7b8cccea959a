// The sending end of an Ethernet line: offers the beats of a frame when their last bytes have arrived at the other end
// of a line without latency.
#ifndef ETHERNET_TRANSMITTER_H
#define ETHERNET_TRANSMITTER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "clock/exact_time.h"

static inline uint32_t line_beat_bytes(const line_transmitter *line) {
  uint32_t left = line->length - line->position;
  return left < 8 ? left : 8;
}

// Whether what is played of a frame is some of it: a state that comes from outside may say otherwise.
static inline bool line_is_sound(const line_transmitter *line) {
  const bool plays = line->playing || line->plain_at != UINT64_MAX;
  return !plays || (line->length >= 4 && line->position <= line->length);
}

// Sleeps until the next beat has arrived by the cycle in which it would be offered.  The last one is made ready in the
// cycle before; the others, whole and plain, just appear when they are due, and are looked at again, in the same cycle,
// only for the next one.
__attribute__((always_inline)) static inline void line_await_beat(line_transmitter *line, uint64_t byte_time,
                                                                  uint64_t period) {
  line->due = exact_time_step(line->due, line_beat_bytes(line) * byte_time);
  line->wake = exact_time_cycle_to(exact_time_instant(line->due), period);
  const bool plain = line->length - line->position > 8;
  if (plain) line->wake += period;
  line->plain_at = plain ? line->wake : UINT64_MAX;
}

// At `wake`: a plain beat that was offered is over, and the next one is awaited.  True: nothing is awaited, or the last
// beat has arrived.
static inline bool line_step(line_transmitter *line, uint64_t byte_time, uint64_t now, uint64_t period) {
  if (line->plain_at == UINT64_MAX) return true;
  line->position += 8;
  line_await_beat(line, byte_time, period);
  return line->plain_at == UINT64_MAX && now >= line->wake;
}

// A frame begins, whose preamble has left at `due`.
static inline void line_begin(line_transmitter *line, exact_time due, uint64_t byte_time, uint64_t period) {
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

// Offers the last beat, which has arrived and begins at `bytes`, in `cycle`; the gap that follows it is `gap` bytes.
static inline void line_play_last(line_transmitter *line, const uint8_t *bytes, bool error, uint64_t cycle,
                                  uint64_t gap, uint64_t byte_time) {
  wire_beat_64 beat = {
      .count = (uint8_t)line_beat_bytes(line), .start = line->position == 0, .end = true, .error = error};
  memcpy(&beat.bytes, bytes, 8);
  line->beat = beat;
  line->beat_cycle = cycle;
  line->wake = 0;
  line->line_free = exact_time_add(line->due, gap, byte_time);
  line->playing = false;
}

// When a frame begins that may at `ready`: the cycle at whose end the line is free for it starts at this instant.
static inline uint64_t line_begins_at(const line_transmitter *line, exact_time ready, uint64_t period) {
  return exact_time_cycle_to(exact_time_instant_after(exact_time_later(ready, line->line_free)), period);
}

// For next_event: whether a plain beat may have been offered in the cycle before the one at `now`, which it has left.
static inline bool line_offered_plain(const line_transmitter *line, uint64_t byte_time, uint64_t now, uint64_t period) {
  const uint64_t beat = (8 * byte_time + 999) / 1000, due = exact_time_instant(line->due);
  return line->playing && line->position > 0 && now + beat < due + 3 * period + 2;
}

#endif
