// Names used by cable.c.
#ifndef CABLE_H
#define CABLE_H

// What may be wrong with a frame, and how rules of `faults` call it.
enum { CABLE_FAULT_FCS, CABLE_FAULT_ERROR, CABLE_FAULTS };
static const char *const cable_faults[CABLE_FAULTS] = {"fcs", "error"};

#endif
