// Names that a run removes at its end; see own_name.h.
#include "lss/runtime/files/own_name.h"

#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

void own_name_take(OwnName *name, const char *path) {
  struct stat status;
  if (!lstat(path, &status)) *name = (OwnName){g_strdup(path), status.st_dev, status.st_ino};
}

void own_name_remove(const OwnName *name) {
  struct stat now;
  if (!name->path || lstat(name->path, &now)) return;
  if (now.st_dev == name->device && now.st_ino == name->inode) unlink(name->path);
}

void own_name_clear(OwnName *name) {
  g_free(name->path);
  *name = (OwnName){0};
}
