// What generated code does with an event that is recorded: its record goes into the block at hand.
//
// A record is the number of its source (two bytes), the ticks since the record before (seven bits a byte, the lowest
// first, the highest bit set in all but the last), and the event's arguments as they are in memory, one behind another.
#ifndef SPINACH_RECORD_H
#define SPINACH_RECORD_H

#include "lss/runtime/engine/spinach.h"

enum { SPINACH_RECORD_HEAD = 2 + 10 }; // bytes of a record ahead of its arguments, at most

typedef struct {
  bool on;                                 // events are recorded now
  uint8_t *at, *end;                       // room in the block at hand
  uint64_t last;                           // instant of the latest record
  const uint16_t *instances, *connections; // number of the first source of each
} spinach_recorder_block;
extern spinach_recorder_block spinach_recorder;

void spinach_recorder_turn(void); // hands the block on and begins another

// The head of a record; returns where its arguments are.
static inline const uint8_t *spinach_record_head(const uint8_t *at, uint16_t *source, uint64_t *ticks) {
  memcpy(source, at, sizeof *source);
  at += sizeof *source;
  *ticks = 0;
  for (unsigned shift = 0;; shift += 7) {
    *ticks |= (uint64_t)(*at & 0x7f) << shift;
    if (!(*at++ & 0x80)) return at;
  }
}

// Begins a record; returns where its arguments go, which are `size` bytes.
static inline uint8_t *spinach_record(uint32_t source, size_t size) {
  if ((size_t)(spinach_recorder.end - spinach_recorder.at) < SPINACH_RECORD_HEAD + size) spinach_recorder_turn();
  uint8_t *at = spinach_recorder.at;
  uint64_t ticks = spinach_time.now - spinach_recorder.last;
  const uint16_t number = (uint16_t)source;
  memcpy(at, &number, sizeof number);
  at += sizeof number;
  for (; ticks >= 0x80; ticks >>= 7) *at++ = (uint8_t)(ticks | 0x80);
  *at++ = (uint8_t)ticks;
  spinach_recorder.last = spinach_time.now;
  spinach_recorder.at = at + size;
  return at;
}

#endif
