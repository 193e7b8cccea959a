// The checkpoints that a run writes on its way (--checkpoint-every).
//
// Each is of the instant after a multiple of so many cycles of one clock.  In a part
// of a network, which need not have that clock, it is the same instant as in all other parts.
#ifndef SPINACH_SAVES_H
#define SPINACH_SAVES_H

#include "lss/runtime/engine/request.h"

// Begins at the present instant.
void spinach_saves_begin(const spinach_options *options);

// The instant before which the run stops for the next one; UINT64_MAX: for none.
uint64_t spinach_saves_tick(void);

// Whether one is due at an instant; from then on it is the next one that is waited for.
bool spinach_saves_due(const spinach_options *options, uint64_t at);

#endif
