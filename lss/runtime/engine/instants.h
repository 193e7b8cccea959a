// Instants of the state that are past.  They decide nothing any more, and are 0 wherever the state is looked at
// (checkpoints, hashes, what is printed): so what is seen is the same whether a cycle was stepped or not.
#ifndef SPINACH_INSTANTS_H
#define SPINACH_INSTANTS_H

#include <stdint.h>

// Clears one instant of an instance if it does not come after the cycle that is next.
void spinach_clear_past(int32_t instance, uint64_t *instant);
// Clears those of all instances.
void spinach_clear_all_past(void);

#endif
