// What carriers need of whatever connects their hosts: messages that arrive in the order in which they were sent, and
// rounds in which numbers of all hosts are put together.  Nothing here waits.
//
// mpi.c has this by MPI; the tests have one that needs none.
#ifndef SPINACH_CARRIER_TRANSPORT_H
#define SPINACH_CARRIER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a host says in a round, and what comes of it.  Hosts are of one build and one byte order.
typedef struct {
  uint64_t unchanged;  // 1: all its parts wait as they did in the round before; of all: the least
  uint64_t finished;   // 1: it needs nobody any more; of all: the least
  uint64_t least;      // what its parts do by themselves; of all: the least
  uint64_t end_at;     // the instant before which all end, as far as it knows; of all: the least
  uint64_t latest;     // the latest instant that its parts have come to; of all: the greatest
  uint64_t sent, seen; // items, and words at meetings; of all: the sum
} Round;

// Puts what another host says to what is known.
static inline void round_add(Round *all, const Round *one) {
  if (one->unchanged < all->unchanged) all->unchanged = one->unchanged;
  if (one->finished < all->finished) all->finished = one->finished;
  if (one->least < all->least) all->least = one->least;
  if (one->end_at < all->end_at) all->end_at = one->end_at;
  if (one->latest > all->latest) all->latest = one->latest;
  all->sent += one->sent;
  all->seen += one->seen;
}

// Whether the message before to that host has left, so that another one may.
bool transport_is_free(uint32_t host);
void transport_send(uint32_t host, const void *bytes, size_t size);
// The next message, which is valid until the next call; NULL: there is none.
const void *transport_receive(uint32_t *host, size_t *size);

// Joins the next round: after the end of the one before.
void transport_join(const Round *own);
// Whether all have joined; *all is what comes of it.
bool transport_joined(Round *all);

#endif
