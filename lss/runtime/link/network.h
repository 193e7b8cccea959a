// The file network.json of a network that was built in parts: who is a part of it, and what leads from whom to whom.
#ifndef SPINACH_LINK_NETWORK_H
#define SPINACH_LINK_NETWORK_H

#include "lss/runtime/engine/clock.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  char *name, *value; // of a pair
} NetworkPair;

typedef struct {
  char *path;
  GArray *renamed;  // NetworkPair: a prefix of the paths in its simulator, and what it is here
  GArray *settings; // NetworkPair: run-time parameters and what they are set to, unless the user does
} NetworkPart;

typedef struct {
  char *path, *type;
  uint32_t from, to; // parts
  uint64_t cut;      // ticks
  uint32_t bytes, slots;
} NetworkLink;

typedef struct {
  char *hash, *file;
  uint64_t ticks_per_second, distance;
  GArray *clocks; // spinach_clock: of all parts
  GArray *parts;  // NetworkPart
  GArray *links;  // NetworkLink
} Network;

// NULL, after a line, when it cannot be read or holds what no compiler writes.
Network *network_read(const char *path);
void network_free(Network *network);

uint32_t network_find_part(const Network *network, const char *path); // UINT32_MAX: there is none
const NetworkPart *network_part(const Network *network, uint32_t number);
const NetworkLink *network_link(const Network *network, uint32_t number);
const NetworkLink *network_find_link(const Network *network, const char *path); // NULL: there is none

#endif
