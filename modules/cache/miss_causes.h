/* miss_causes.h: why the lines of a cache were not there when they were wanted: the code of the collector
 * `miss_causes`.
 *
 * A miss has the cause that the line left by: it was never here (compulsory), it made room for another (displaced),
 * another agent wrote it (invalidated), software invalidated it (maintained); or it is here beside others' copies, and
 * is to be written (shared). */
#ifndef MISS_CAUSES_H
#define MISS_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

enum { MISS_COMPULSORY, MISS_DISPLACED, MISS_INVALIDATED, MISS_MAINTAINED, MISS_SHARED, MISS_CAUSES };

/* How often each cause was seen, and misses of lines beyond those that are followed. */
typedef struct {
  uint64_t count[MISS_CAUSES], elsewhere;
} miss_counts;

/* Of each of `lines` lines from address 0 on `why` has the cause that its next miss will have. */
static inline void miss_note(uint8_t *why, uint32_t lines, uint32_t number, uint8_t cause) {
  if (number < lines) why[number] = cause;
}

/* A request misses a line. */
static inline void miss_count(miss_counts *counts, const uint8_t *why, uint32_t lines, uint32_t number) {
  ++*(number < lines ? &counts->count[why[number]] : &counts->elsewhere);
}

#endif
