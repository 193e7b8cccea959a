// Processes that this one starts and waits for.
#ifndef SPINACH_CHILD_PROCESS_H
#define SPINACH_CHILD_PROCESS_H

#include <glib.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

// For g_spawn_sync(), with the own process as `parent`: the new process ends when this one is killed, and does not go
// on compiling for nobody.  What it starts in the same way ends, too.
static inline void child_ends_with_parent(gpointer parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != GPOINTER_TO_INT(parent)) _exit(128 + SIGTERM);
}

#endif
