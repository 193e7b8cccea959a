// Names used by ethernet_switch.c.
#ifndef ETHERNET_SWITCH_H
#define ETHERNET_SWITCH_H

enum { SWITCH_WAYS = 4 }; // places in which an address may be

#endif
