// What is removed from the cache: leftovers of killed builds, and what was not used for longest.
#ifndef LSS_CACHE_TRIM_H
#define LSS_CACHE_TRIM_H

#include "lss/build/cache.h"

// Removes a file or a folder with all that is in it.
void cache_remove(const char *path);

// Notes that so many bytes are about to be added to the cache.
void cache_add_size(const char *folder, guint64 bytes);

// If no build is at work: removes leftovers and, when the cache has grown, entries until it is within its limit again,
// but none used since `keep` (microseconds).
void cache_tidy(const char *folder, bool grown, gint64 keep);

#endif
