// The loop of a fork of the run (../engine/forks.h).
#ifndef SPINACH_FORK_LOOP_H
#define SPINACH_FORK_LOOP_H

#include "lss/runtime/engine/request.h"

// Before the machine runs.
void spinach_fork_loop_prepare(const spinach_options *options);

#endif
