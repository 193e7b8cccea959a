// A machine that fuzzers debug in their own process: two processors that retire an instruction in each cycle.
#ifndef FUZZ_TWO_PROCESSORS_H
#define FUZZ_TWO_PROCESSORS_H

#include "lss/runtime/engine/request.h"

// Starts it, for a run of these options.
void two_processors_begin(const spinach_options *options);
// It is as it was at the start.
void two_processors_again(void);

#endif
