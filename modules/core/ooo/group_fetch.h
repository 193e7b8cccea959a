// group_fetch.h: which context is fetched for; see group_fetch.lss.  Counts have a byte for each context.
#ifndef GROUP_FETCH_H
#define GROUP_FETCH_H

#include "core/ooo/places.h"

// The first of those behind the one that was fetched for last: round robin.
static inline uint32_t fetch_in_turn(uint32_t ready_contexts, uint32_t last) {
  return context_in_turn(ready_contexts, last);
}

// The one of which the fewest instructions wait: ICOUNT.  Of several the first in turn.
static inline uint32_t fetch_fewest(uint32_t ready_contexts, uint64_t counts, uint32_t last) {
  uint32_t best = fetch_in_turn(ready_contexts, last);
  for (uint32_t m = ready_contexts & ~(UINT32_C(1) << best), c = best; m; m &= ~(UINT32_C(1) << c)) {
    c = fetch_in_turn(m, c);
    if ((counts >> 8 * c & 255) < (counts >> 8 * best & 255)) best = c;
  }
  return best;
}

#endif
