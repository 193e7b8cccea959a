// mshr_controller.h: the organisation of a non-blocking cache, and what several requests of a cycle may take; see
// mshr_controller.c.
#ifndef MSHR_CONTROLLER_H
#define MSHR_CONTROLLER_H

#include "cache/cache_controller.h"
#include "cache/line_access.h"
#include "cache/mesi.h"

#define MSHR_NOWHERE ((uint32_t)param(ways))  // no way
#define MSHR_NONE    ((uint32_t)param(mshrs)) // no MSHR

// Tags of requests to memory: of beats, the MSHR's number times CACHE_BEATS and the beat; of the write buffer, the
// place there behind these; of what passes alone, the last.
#define MSHR_WRITES     (MSHR_NONE * (uint32_t)CACHE_BEATS)
#define MSHR_BYPASS_TAG (MSHR_WRITES + (uint32_t)param(write_buffer))

// What is left in a cycle for requests of further lanes.
typedef struct {
  uint64_t banks; // that are taken
  uint32_t mshrs, writes;
  bool alone;  // nothing was accepted yet
  bool linked; // a request that makes or uses the link was accepted
} mshr_room;

#endif
