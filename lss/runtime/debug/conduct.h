// The run that is debugged, as the program around the debugger conducts it.
#ifndef SPINACH_CONDUCT_H
#define SPINACH_CONDUCT_H

#include "lss/runtime/engine/request.h"

typedef struct {
  const spinach_options *options;
  const char *(*begin)(void); // begins the next advance; returns why the run is over instead, or NULL
  char *(*stuck)(void);       // between two advances: words if it makes no progress, which the caller frees, or NULL
  const char *(*end_stuck)(const char *words); // reports them; returns why the run is over
  double (*share)(void);                       // of the way to its end; negative when that is unknown
} RunConduct;
extern RunConduct run_conduct; // set before the debugger begins

#endif
