// Digests of large files, kept in the user's cache: an image of a disk is read once for its digest, and not by each
// run.
//
// A digest counts for a file of the same device, inode, size, and times of its last changes; the kernel sets one of
// these times whenever contents change.  A cache that cannot be read or written is as good as none.
#ifndef SPINACH_DIGEST_CACHE_H
#define SPINACH_DIGEST_CACHE_H

#include <glib.h>
#include <sys/stat.h>

// The digest of a file that was `file` when it was opened; `kind` says of which bytes.  NULL: it is not known.  The
// caller frees it.
char *digest_cache_find(const struct stat *file, const char *kind);
// Keeps it, unless the file is small, or so new that it may change again without another time.
void digest_cache_keep(const struct stat *file, const char *kind, const char *digest);

// Whether a file has changed between the two.
gboolean digest_cache_same(const struct stat *before, const struct stat *after);

#endif
