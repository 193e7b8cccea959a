// Where the cache is, and its lock.
#include "lss/build/cache_lock.h"

#include "lss/runtime/files/cache_place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

char *cache_folder(void) {
  return cache_place();
}

int cache_lock(const char *folder, int how) {
  g_autofree char *path = g_build_filename(folder, "lock", NULL);
  int handle = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (handle < 0) return -1;
  int status;
  do status = flock(handle, how);
  while (status && errno == EINTR);
  if (!status || (errno != EWOULDBLOCK && !(how & LOCK_NB))) return handle; // some file systems know no locks
  close(handle);
  return -1;
}
