// A trace of several elements: the latest of what was noted.  What was noted again and again in the same order, as a
// loop of a program does, is in it once, with how often.
#ifndef SPINACH_RING_H
#define SPINACH_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SPINACH_RING_LAP = 256 }; // a lap, in the words that count laps; below it the length of a lap

// Behind it a word for each element: how often the elements up to this one were noted once more; 0: they were not.
typedef struct {
  uint32_t next;    // the oldest element, and the place of the next one
  uint32_t period;  // elements of a lap of what is repeated now; 0: nothing is
  uint32_t matched; // how many of the lap that is not over yet came
  uint32_t reach;   // how many came since the last thing that was repeated, as far as it matters
  uint64_t hashes;  // of the latest elements, 4 bits each; of the latest one the lowest
} spinach_ring;

static inline uint64_t *spinach_ring_laps(const spinach_ring *ring) {
  return (uint64_t *)(uintptr_t)(ring + 1);
}

// The place of the element that came so many before the next one.
static inline uint32_t spinach_ring_back(const spinach_ring *ring, uint32_t distance, uint32_t elements) {
  return ring->next >= distance ? ring->next - distance : ring->next + elements - distance;
}

static inline bool spinach_ring_equal(const void *one, const void *other, uint32_t size) {
  uint64_t a, b;
  if (size != sizeof a) return !memcmp(one, other, size);
  memcpy(&a, one, sizeof a);
  memcpy(&b, other, sizeof b);
  return a == b;
}

// The next element of what is repeated came.
static inline void spinach_ring_match(spinach_ring *ring, uint32_t count) {
  if (++ring->matched < ring->period) return;
  ring->matched = 0;
  spinach_ring_laps(ring)[spinach_ring_back(ring, 1, count)] += SPINACH_RING_LAP;
}

// What does not go on with what is repeated.
void *spinach_ring_note_other(spinach_ring *ring, void *elements, uint32_t count, uint32_t size, const void *value);

// Notes a value; returns where it is in the ring now.
static inline void *spinach_ring_note(spinach_ring *ring, void *elements, uint32_t count, uint32_t size,
                                      const void *value) {
  if (ring->period) {
    uint8_t *expected =
        (uint8_t *)elements + (size_t)spinach_ring_back(ring, ring->period - ring->matched, count) * size;
    if (spinach_ring_equal(expected, value, size)) {
      spinach_ring_match(ring, count);
      return expected;
    }
  }
  return spinach_ring_note_other(ring, elements, count, size, value);
}

#endif
