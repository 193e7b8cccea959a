// Memory as runs of pages that are not zero, compressed.
#ifndef SPINACH_PAGES_H
#define SPINACH_PAGES_H

#include <glib.h>
#include <stdbool.h>

// Where a run of pages is in memory and in a file, and what its compressed bytes add up to.
typedef struct {
  guint64 offset, size; // in memory; whole pages
  guint64 compressed;   // bytes in the file, where runs follow each other
  char sha256[65];      // of these
} PageRun;

// Whether all bytes are 0; there is one at least.
bool pages_is_zero(const guint8 *page, gsize size);

// Appends the compressed runs of `memory` to `file`; returns an array of PageRun, which the caller frees.
GArray *pages_compress(const guint8 *memory, gsize size, GByteArray *file);

// Puts runs back into `memory`, whose other pages are zero already.  On failure sets *error: what is wrong with them.
bool pages_expand(const GArray *runs, const guint8 *file, gsize length, guint8 *memory, gsize size, GError **error);

// Bytes compressed at once, and back; the second needs to know how many there are to be.  The caller frees the array.
void pages_append_compressed(GByteArray *file, const void *bytes, gsize size);
bool pages_decompress(void *bytes, gsize size, const void *compressed, gsize length);

#endif
