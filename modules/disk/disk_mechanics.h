// Where a sector is on a disk.
#ifndef DISK_MECHANICS_H
#define DISK_MECHANICS_H

#include <stdint.h>

typedef struct {
  uint32_t cylinder;
  uint32_t head;
  uint32_t sector; // of the track, as they are numbered
  uint32_t sectors;
  uint32_t skewed; // by how many sectors the track is skewed
} disk_place;

// What it takes to get there: until the arm has arrived, until the sector begins, until it has passed; in cycles.
typedef struct {
  uint32_t move;
  uint32_t wait;
  uint32_t length;
} disk_approach;

// What the buffer does next for a request: its one reply, a flush of what holds the sectors, a sector.
enum { DISK_REPLY, DISK_FLUSH, DISK_READ };

#endif
