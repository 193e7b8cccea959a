// Traces of several elements; see ring.h.
#include "lss/runtime/engine/ring.h"

enum { LONGEST_LAP = 16, HASH_BITS = 4 }; // elements; as many hashes fill a word

#define EACH_HASH(bits) (UINT64_MAX / 15 * (bits))

typedef struct {
  spinach_ring *ring;
  uint8_t *elements;
  uint32_t count, size;
} Ring;

static inline uint8_t *at(const Ring *r, uint32_t distance) {
  return r->elements + (size_t)spinach_ring_back(r->ring, distance, r->count) * r->size;
}

static inline uint64_t *laps(const Ring *r) {
  return &spinach_ring_laps(r->ring)[spinach_ring_back(r->ring, 1, r->count)];
}

static inline uint64_t hash_of(const Ring *r, const void *value) {
  uint64_t word = 0;
  memcpy(&word, value, r->size < sizeof word ? r->size : sizeof word);
  return word * 0x9e3779b97f4a7c15 >> (64 - HASH_BITS);
}

static inline uint8_t *append(const Ring *r, const void *value) {
  const uint32_t place = r->ring->next;
  uint8_t *to = r->elements + (size_t)place * r->size;
  memmove(to, value, r->size);
  spinach_ring_laps(r->ring)[place] = 0;
  r->ring->next = place + 1 == r->count ? 0 : place + 1;
  r->ring->reach += r->ring->reach < LONGEST_LAP;
  r->ring->hashes = r->ring->hashes << HASH_BITS | hash_of(r, value);
  return to;
}

// Something else came: what is there of a lap stands behind the laps before it.
static void leave(const Ring *r) {
  const uint32_t period = r->ring->period, matched = r->ring->matched;
  if (*laps(r) < SPINACH_RING_LAP)
    *laps(r) = 0;
  else
    r->ring->reach = 0;
  r->ring->period = r->ring->matched = 0;
  for (uint32_t i = 0; i < matched; i++) append(r, at(r, period));
}

// How long ago the value came last, as far as a lap may reach; 0: it did not.
static inline uint32_t distance_of(const Ring *r, const void *value) {
  const uint32_t half = r->count / 2, longest = half < LONGEST_LAP ? half : LONGEST_LAP,
                 reach = r->ring->reach < longest ? r->ring->reach : longest;
  const uint64_t other = r->ring->hashes ^ EACH_HASH(1) * hash_of(r, value);
  uint64_t same = ~(other | other >> 1 | other >> 2 | other >> 3) & EACH_HASH(1);
  for (; same; same &= same - 1) {
    const uint32_t distance = (uint32_t)__builtin_ctzll(same) / HASH_BITS + 1;
    if (distance > reach) return 0;
    if (spinach_ring_equal(at(r, distance), value, r->size)) return distance;
  }
  return 0;
}

void *spinach_ring_note_other(spinach_ring *ring, void *elements, uint32_t count, uint32_t size, const void *value) {
  const Ring r = {ring, elements, count, size};
  if (ring->period) leave(&r);
  const uint32_t period = distance_of(&r, value);
  if (!period) return append(&r, value);
  uint8_t *before = at(&r, period);
  ring->period = period;
  *laps(&r) = period;
  spinach_ring_match(ring, count);
  return before;
}
