// What the userpoints of a memory router may use; see memory_router.lss.
#ifndef MEMORY_ROUTER_H
#define MEMORY_ROUTER_H

#include <stdint.h>

// The value on lane `i` of the router's port `context`; 0 when nothing was sent.
#define context_value(i) (((const uint32_t *)(uintptr_t)contexts)[i])

#endif
