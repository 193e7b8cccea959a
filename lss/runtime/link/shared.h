// What the processes of a run share: a file in /dev/shm with the board, and behind it the ring of each link in the
// order of network.json.
#ifndef SPINACH_LINK_SHARED_H
#define SPINACH_LINK_SHARED_H

#include "lss/runtime/link/network.h"

#include <stddef.h>

// The path of the file, which the caller frees; NULL after a line: that is no name.
char *shared_path(const char *board);
// Maps it; who comes first makes it.  NULL after a line.
uint8_t *shared_map(const char *path, const Network *network);
// Where the ring of a link begins in it.
size_t shared_ring(const Network *network, uint32_t link);

#endif
