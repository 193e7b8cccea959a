// miss_causes.h: why the lines of a cache were not there when they were wanted: the code of the collector
// `miss_causes`.
//
// A miss has the cause that the line left by: it was never here (compulsory), it made room for another (displaced),
// another agent wrote it (invalidated), software invalidated it (maintained); or it is here beside others' copies, and
// is to be written (shared).
//
// Where several contexts share the cache, a displaced line may have made room for another context's (interthread).  And
// a request may find a line for the first time that another context fetched: a miss that was avoided.  User mode and
// kernel of one processor are told apart in the same way, in place of contexts: number 0 is the kernel.
#ifndef MISS_CAUSES_H
#define MISS_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache_links.h"

enum { MISS_COMPULSORY, MISS_DISPLACED, MISS_INVALIDATED, MISS_MAINTAINED, MISS_SHARED, MISS_CAUSES };

// How often each cause was seen, and misses of lines beyond those that are followed; of the displaced ones those that
// made room for another context, and misses that were avoided; and the misses of each context.
typedef struct {
  uint64_t count[MISS_CAUSES], elsewhere, interthread, avoided, of[8];
} miss_counts;

// What is known of a line: the cause that its next miss will have, the context that it made room for, and those that
// have used it since it was fetched, a bit for each.
typedef struct {
  uint8_t why, by, users;
} miss_line;

// A line leaves, or is here beside others' copies.
static inline void miss_note(miss_line *of, uint32_t lines, uint32_t number, uint8_t cause, uint8_t context) {
  if (number >= lines) return;
  of[number].why = cause;
  of[number].by = context;
}

// What is reported of all caches.
#define MISS_REPORT(counts)                                                                                            \
  do {                                                                                                                 \
    report_value("compulsory", (counts)->count[MISS_COMPULSORY], "requests", "Misses of lines that were never here."); \
    report_value("displaced", (counts)->count[MISS_DISPLACED], "requests",                                             \
                 "Misses of lines that made room for others.");                                                        \
    report_value("invalidated", (counts)->count[MISS_INVALIDATED], "requests",                                         \
                 "Misses of lines that another agent wrote.");                                                         \
    report_value("maintained", (counts)->count[MISS_MAINTAINED], "requests",                                           \
                 "Misses of lines that software invalidated.");                                                        \
    report_value("shared", (counts)->count[MISS_SHARED], "requests", "Writes to lines that others have copies of.");   \
    report_value("elsewhere", (counts)->elsewhere, "requests", "Misses of lines beyond what is followed.");            \
  } while (0)

// A request misses a line.
static inline void miss_count(miss_counts *counts, miss_line *of, uint32_t lines, uint32_t number, uint8_t context) {
  if (number >= lines) {
    counts->elsewhere++;
    return;
  }
  counts->count[of[number].why]++;
  counts->of[context]++;
  counts->interthread += of[number].why == MISS_DISPLACED && of[number].by != context;
  of[number].users = (uint8_t)(1u << context);
}

// A request finds a line, or waits for one that is on its way.
static inline void miss_use(miss_counts *counts, miss_line *of, uint32_t lines, uint32_t number, uint8_t context) {
  if (number >= lines || of[number].users >> context & 1) return;
  counts->avoided++;
  of[number].users |= (uint8_t)(1u << context);
}

#endif
