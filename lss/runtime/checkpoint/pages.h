// Memory as runs of pages that are not zero, compressed.
//
// Each run is a PageRun and its compressed bytes; one of no bytes at the end of the memory is the last.  The SHA-256 of
// each covers that of the one before it, so that nothing can be missing or exchanged.
#ifndef SPINACH_PAGES_H
#define SPINACH_PAGES_H

#include <glib.h>
#include <stdbool.h>

enum { PAGES_SUM = 32 };

typedef struct {
  guint64 offset, size; // in memory; whole pages
  guint64 compressed;   // bytes that follow
  guint8 sum[PAGES_SUM];
} PageRun;

// Whether all bytes are 0; there is one at least.
bool pages_is_zero(const guint8 *page, gsize size);

// Writes the runs of `memory` to a descriptor as they are compressed, with memory for one of them; `sum` is what the
// first one follows.  On failure sets *error: a reason.
bool pages_write(const guint8 *memory, gsize size, const guint8 *sum, int handle, GError **error);

// Puts runs back into `memory`, whose other pages are zero already.  On failure sets *error: what is wrong with them.
bool pages_expand(const guint8 *runs, gsize length, const guint8 *sum, guint8 *memory, gsize size, GError **error);

// Sets the sum of a run that follows one with the sum `before`.
void pages_sum(PageRun *run, const guint8 *before, const guint8 *compressed);

// Bytes compressed at once, and back; the second needs to know how many there are to be.
void pages_append_compressed(GByteArray *file, const void *bytes, gsize size);
bool pages_decompress(void *bytes, gsize size, const void *compressed, gsize length);

#endif
