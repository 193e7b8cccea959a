// Descriptors of a forked process; see detach.h.  Two processes share the place in a file whose descriptor one has
// inherited from the other.
#include "lss/runtime/files/detach.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 4096 };
static const char OWN[] = "/proc/self/fd";

typedef struct {
  int handle;
  bool is_read; // an ordinary file, from which is only read
  off_t place;
} Descriptor;

static void note_one(GArray *noted, int handle) {
  struct stat status;
  Descriptor one = {.handle = handle};
  const int flags = fcntl(handle, F_GETFL);
  if (flags < 0 || (flags & O_PATH) || fstat(handle, &status) || S_ISDIR(status.st_mode)) return;
  if (S_ISREG(status.st_mode) && (flags & O_ACCMODE) == O_RDONLY) {
    one.place = lseek(handle, 0, SEEK_CUR);
    one.is_read = one.place >= 0;
  }
  g_array_append_val(noted, one);
}

// The system's list says which there are; without it, those are tried that there may be.
GArray *detach_note(void) {
  GArray *noted = g_array_new(FALSE, FALSE, sizeof(Descriptor));
  DIR *list = opendir(OWN);
  const int most = list ? 0 : (int)MIN(sysconf(_SC_OPEN_MAX), MOST);
  for (const struct dirent *entry; list && (entry = readdir(list));)
    if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(list)) note_one(noted, atoi(entry->d_name));
  if (list) closedir(list);
  for (int handle = 0; handle < most; handle++) note_one(noted, handle);
  return noted;
}

// The file of a descriptor anew; -1: it cannot be opened.
static int open_again(const Descriptor *descriptor) {
  char path[sizeof OWN + 16];
  snprintf(path, sizeof path, "%s/%d", OWN, descriptor->handle);
  const int handle = open(path, O_RDONLY | O_CLOEXEC);
  if (handle >= 0) lseek(handle, descriptor->place, SEEK_SET);
  return handle;
}

void detach_apply(const GArray *noted, int kept) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (guint i = 0; i < noted->len; i++) {
    const Descriptor *one = &g_array_index(noted, Descriptor, i);
    if (one->handle == kept) continue;
    const int again = one->is_read ? open_again(one) : -1;
    if (dup3(again >= 0 ? again : nowhere, one->handle, O_CLOEXEC) < 0) close(one->handle);
    if (again >= 0) close(again);
  }
  if (nowhere >= 0) close(nowhere);
}
