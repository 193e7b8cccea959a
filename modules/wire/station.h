// Names used by station.c.
#ifndef STATION_H
#define STATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The longest that a retransmission is delayed: RFC 6298 (2.5) has at least 60 s.
#define STATION_LONGEST_RETRANSMISSION INT64_C(60000000000000000)

// An Ethernet address in the usual notation; false for anything else, and for one that no single station has.
static inline bool station_parse_mac(const char *text, uint64_t *mac) {
  unsigned part[6];
  int end = 0;
  if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", part, part + 1, part + 2, part + 3, part + 4, part + 5, &end) != 6 ||
      text[end])
    return false;
  *mac = 0;
  for (int i = 0; i < 6; i++) *mac = *mac << 8 | part[i];
  return *mac != 0 && !(part[0] & 1);
}

#endif
