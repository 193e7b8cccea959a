// How hosts agree on an instant before which nothing happens anywhere (board.h), where no board has all seats.
//
// A host whose parts all wait joins a round: it says the least of what they do by themselves, and how many items they
// have sent and seen.  A round ends when all hosts have joined it.  Then a host may long be at work again: an item came
// over a link.  So a round counts only if every host was in the same state in the round before, and in between, which
// the sequence numbers of its seats say.  Then all of it held at one moment: the end of the round before, when all had
// joined that, and nobody the next.  If the sums are equal, nothing was under way at that moment.
//
// After a round that counts, a host that has something to do at that instant joins no other before it has done it: the
// rounds stand still as long as it works.
//
// Items count as sent when their sender has written them and as seen when their receiver has found them: carriers and
// their messages are in between.  So does what parts say at meetings, once for each other host.  Neither
// is seen before it is sent, so that equal sums of both mean that each is equal.  An end that some host
// knows of travels in messages.  A host that has not got it yet, which the round shows, takes no agreement before.
//
// The model of this is tests/link/hosts.pml.
#ifndef SPINACH_CARRIER_AGREEMENT_H
#define SPINACH_CARRIER_AGREEMENT_H

#include "lss/runtime/carrier/transport.h"
#include "lss/runtime/link/board.h"

typedef struct {
  bool joined;   // a round has not ended yet
  bool holds;    // the next is not joined before the state changes
  bool complete; // all were finished in the last round: there is no other
  BoardWait own; // the state in the latest round of this host
} Agreement;

// `finished`: this host needs nobody any more.  True: all agreed.
bool agreement_turn(Agreement *agreement, Board *board, uint32_t host_count, bool finished);
// Whether this host waits for others to join a round, and nothing has changed here since.
bool agreement_is_awaited(const Agreement *agreement, Board *board);

#endif
