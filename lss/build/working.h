// What a build is doing, for people who wait: after two seconds a line on standard error, which a terminal rewrites;
// into a file or pipe one every ten seconds.  LSS_PROGRESS=off in the environment: none.
#ifndef LSS_WORKING_H
#define LSS_WORKING_H

#include <glib.h>

typedef struct {
  const char *title; // "compiling"
  guint total, done;
  gint64 began, shown;
  GMutex lock;
  GCond changed;
} Working;

void working_begin(Working *working, const char *title, guint total);
// One part is done; from any thread.
void working_step(Working *working);
// Shows what is done until all is, and removes the line.
void working_end(Working *working);

#endif
