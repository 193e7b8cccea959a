// Where the cache of the user is that compiler and simulators share.
#ifndef SPINACH_CACHE_PLACE_H
#define SPINACH_CACHE_PLACE_H

#include <glib.h>

// $LSS_CACHE, or the folder `spinach` in that of the user's caches; the caller frees it.
static inline char *cache_place(void) {
  const char *named = g_getenv("LSS_CACHE");
  if (named && *named) return g_canonicalize_filename(named, NULL);
  return g_build_filename(g_get_user_cache_dir(), "spinach", NULL);
}

#endif
