// Several hosts in one: a carrier process for each, connected by sockets and shared memory in place of MPI.
#ifndef TESTS_LINK_HOSTS_H
#define TESTS_LINK_HOSTS_H

#include "lss/runtime/carrier/carrier.h"

// Before the processes are started.
void hosts_connect(uint32_t count);
void hosts_disconnect(void);
// The carrier of a host, whose board and links are there; returns when no other host needs it.  With another `seed`, it
// looks at what has come at other times.  One that garbles changes bytes of its messages, and ends with one that is
// none.
void hosts_carry(Carrier *carrier, uint64_t seed, bool garbles);

#endif
