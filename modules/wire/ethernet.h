// Names used by ethernet.c.
#ifndef ETHERNET_H
#define ETHERNET_H

#include <stdbool.h>

// Bytes of the longest frame that may be played, one that is too long, with FCS.
enum { ETHERNET_LONGEST = 9216 };

// What may be wrong with a frame, and how rules of `faults` call it.
enum {
  ETHERNET_FAULT_FCS,
  ETHERNET_FAULT_SHORT,
  ETHERNET_FAULT_FRAGMENT,
  ETHERNET_FAULT_LONG,
  ETHERNET_FAULT_JABBER,
  ETHERNET_FAULT_ERROR,
  ETHERNET_FAULTS
};
static const char *const ethernet_faults[ETHERNET_FAULTS] = {"fcs", "short", "fragment", "long", "jabber", "error"};

static inline bool ethernet_fault_in_fcs(int fault) {
  return fault == ETHERNET_FAULT_FCS || fault == ETHERNET_FAULT_FRAGMENT || fault == ETHERNET_FAULT_JABBER;
}

#endif
