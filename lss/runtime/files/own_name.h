// The name of a link or socket that a run makes in the file system and removes at its end, unless something else has
// taken the name since.
#ifndef SPINACH_OWN_NAME_H
#define SPINACH_OWN_NAME_H

#include <sys/types.h>

typedef struct {
  char *path; // NULL: none
  dev_t device;
  ino_t inode;
} OwnName;

// What has the name now is the run's own.
void own_name_take(OwnName *name, const char *path);
// In a signal handler, too.
void own_name_remove(const OwnName *name);
void own_name_clear(OwnName *name);

#endif
