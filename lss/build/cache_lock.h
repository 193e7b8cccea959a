// Where the cache is, and its lock.
#ifndef LSS_CACHE_LOCK_H
#define LSS_CACHE_LOCK_H

#include <glib.h>

// "$LSS_CACHE", "$XDG_CACHE_HOME/spinach" or "~/.cache/spinach".
char *cache_folder(void);

// Opens and locks the cache's lock file, `how` as for flock(); -1 when another process holds it.
int cache_lock(const char *folder, int how);

#endif
