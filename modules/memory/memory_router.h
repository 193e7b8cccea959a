// What the userpoints of a memory router may use; see memory_router.lss.
#ifndef MEMORY_ROUTER_H
#define MEMORY_ROUTER_H

#include <stdint.h>
#include <string.h>

// The value on the lane of the router's port `context` that has the key `k`; 0 when nothing was sent.
#define context_value(k) (((const uint32_t *)(uintptr_t)contexts)[lane(context, k)])

// What `route` returns for an address where nothing is, and which is no error: reads give 0, writes do nothing.
enum { ROUTE_NOTHING = -2 };
// What a request comes to beside lanes of targets: an error, nothing yet, or 0.
enum { ROUTER_UNMAPPED = -1, ROUTER_WAIT = -2, ROUTER_ZERO = -3 };

// Added to the lane of a target: what is outstanding there has its bytes in opposite order.
enum { ROUTER_BYTE_SWAPPED = 0x10000 };

// Instead of a number of requests outstanding.
enum { ROUTER_REPLIES = -1, ROUTER_BARRIER = -2 };

// Words of a request with the bytes of each in opposite order.
static inline void router_byte_swap(void *data, uint32_t size) {
  for (uint8_t *word = data; size >= 4; size -= 4, word += 4) {
    uint32_t value;
    memcpy(&value, word, 4);
    value = __builtin_bswap32(value);
    memcpy(word, &value, 4);
  }
}

#endif
