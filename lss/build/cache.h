// The cache: a folder of objects and simulators, named by what they were made from, and bounded in size.
//
// A build holds a shared lock on the folder and works in a scratch folder of its own inside; what is complete is moved
// into place.  Whoever finds the lock free afterwards removes what killed builds left behind and, when the folder has
// grown beyond its limit, what was not used for longest.  A file counts only with its seal, which holds the hash of its
// contents and a note; so nothing in the cache is ever wrong, and nothing in it need ever be removed but for space.
#ifndef LSS_CACHE_H
#define LSS_CACHE_H

#include <glib.h>
#include <stdbool.h>

typedef struct {
  char *folder, *scratch;
  int lock;     // descriptor, or -1
  gint64 begin; // when this build began, in microseconds; what is younger stays
  bool grown;
} Cache;

typedef struct {
  guint64 bytes, limit;
  guint objects, simulators;
} CacheUse;

// On failure prints one line and returns false.
bool cache_open(Cache *cache);
void cache_close(Cache *cache);

// A file is there as it was sealed; *note (may be NULL) receives what was stored with it.  Counts as a use.
bool cache_check(const char *path, char **note);

// Notes a use of a file that has no seal.
void cache_touch(const char *path);

// Moves `made` to `path` and seals it.  On failure returns false, with errno set.
bool cache_keep(Cache *cache, const char *made, const char *path, const char *note);

// SHA-256 of a file, or NULL when it cannot be read; *size may be NULL.
char *cache_sum_of_file(const char *path, gsize *size);

// For the command: what is in it, a new limit in bytes, and removal of everything.  False after printing a line.
CacheUse cache_use(void);
bool cache_set_limit(guint64 limit);
bool cache_clean(void);

#endif
