// places.h: instructions by age and context, and sets of them as bits for their places in an active list; see
// wide_types.lss.  What takes a count wants that of an age: the ages of one context alone are as good for what compares
// them.
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stdint.h>

// The first of three bits of the tag of a request to memory that are its context.
enum { CONTEXT_BIT = 19 };

// The bits of an age that are its context.
static inline uint32_t context_bits(uint32_t contexts) {
  return contexts > 4 ? 3 : contexts > 2 ? 2 : contexts > 1 ? 1 : 0;
}

static inline uint32_t age_context(uint32_t age, uint32_t contexts) {
  return age & ((UINT32_C(1) << context_bits(contexts)) - 1);
}

static inline uint32_t age_count(uint32_t age, uint32_t contexts) {
  return age >> context_bits(contexts);
}

// The context with this number; any, where there is none.
static inline uint32_t context_with(uint32_t number, uint32_t contexts) {
  const uint32_t context = number & ((UINT32_C(1) << context_bits(contexts)) - 1);
  return context < contexts ? context : 0;
}

// The context of which the tag of a request is; of a tag that none has made, any.
static inline uint32_t tag_context(uint32_t tag, uint32_t contexts) {
  return context_with(tag >> CONTEXT_BIT, contexts);
}

// The age of the n-th instruction behind another one of its context.
static inline uint32_t age_behind(uint32_t age, uint32_t n, uint32_t contexts) {
  return age + (n << context_bits(contexts));
}

// How many instructions there are from one to before another one of its context; less than 0, modulo 2^32, if that is
// older.
static inline uint32_t ages_between(uint32_t from, uint32_t to, uint32_t contexts) {
  return (uint32_t)((int32_t)(to - from) >> context_bits(contexts));
}

// Whether the first is younger than the second, of the same context.
static inline bool place_younger(uint32_t age, uint32_t than) {
  return (int32_t)(age - than) > 0;
}

// Whether the first is younger than the second, and of its context.
static inline bool age_follows(uint32_t age, uint32_t than, uint32_t contexts) {
  return age_context(age, contexts) == age_context(than, contexts) && place_younger(age, than);
}

// The place of an instruction in a list of `entries`, a power of two up to 64.
static inline uint32_t place_of_age(uint32_t count, uint32_t entries) {
  return count & (entries - 1);
}

// Its number among the places of all contexts, those of a context side by side.
static inline uint32_t slot_of_age(uint32_t age, uint32_t contexts, uint32_t entries) {
  return age_context(age, contexts) * entries + place_of_age(age_count(age, contexts), entries);
}

// The places of n instructions from a count on.
static inline uint64_t places_from(uint32_t count, uint32_t n, uint32_t entries) {
  const uint32_t first = place_of_age(count, entries);
  const uint64_t all = entries == 64 ? ~UINT64_C(0) : (UINT64_C(1) << entries) - 1;
  if (n >= entries) return all;
  const uint64_t ones = (UINT64_C(1) << n) - 1;
  return (ones << first | (first ? ones >> (entries - first) : 0)) & all;
}

// The places from one age to another one of its context, that included.
static inline uint64_t places_to(uint32_t first, uint32_t last, uint32_t contexts, uint32_t entries) {
  return places_from(age_count(first, contexts), ages_between(first, last, contexts) + 1, entries);
}

// The oldest of some, of which there is one at least, if the oldest of all has the count `head`.
static inline uint32_t places_oldest(uint64_t set, uint32_t head, uint32_t entries) {
  const uint64_t upper = set & ~UINT64_C(0) << place_of_age(head, entries);
  return (uint32_t)__builtin_ctzll(upper ? upper : set);
}

// The first context of a set from one on, in a circle; there is one at least.
static inline uint32_t context_from(uint32_t set, uint32_t first) {
  const uint32_t upper = set & ~UINT32_C(0) << first;
  return (uint32_t)__builtin_ctz(upper ? upper : set);
}

// The first of a set behind the last one whose turn it was; there is one at least.
static inline uint32_t context_in_turn(uint32_t set, uint32_t last) {
  return context_from(set, (last + 1) & 7);
}

#endif
