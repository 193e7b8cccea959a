// One host of a network that runs on several: what its carrier has for the carriers of the other hosts, and what
// becomes of that which comes from them.
//
// The board and the rings of the whole network are in the shared memory of every host.  Of a link that leads to another
// host, the carrier is the receiver here and the sender there: it copies what the sender writes, in the order in which
// ring.h has it, so that the receiver sees what it would have seen, only later.  A message has the new entries and the
// new promise of all links from one host to another, and back the count of those that were taken.  The sending carrier
// never has more entries under way than the ring at the other end holds.
//
// A message says, too, how the run ends, as far as this host knows.  That is read after the promises, and used before
// them at the other host: so whoever may step because of a promise knows of every end that its sender knew of.  What
// parts say at meetings travels in the same way.  That a part has left is said when all that it has sent and promised
// to the other host was: what it has not promised then, nobody does any more.
//
// A carrier needs every promise: it says so in the rings of links that leave before it sleeps.
//
// This knows neither the files of a network nor MPI, so that it is tested without them (tests/link).
#ifndef SPINACH_CARRIER_CARRIER_H
#define SPINACH_CARRIER_CARRIER_H

#include "lss/runtime/carrier/agreement.h"
#include "lss/runtime/carrier/changes.h"
#include "lss/runtime/carrier/parcel.h"
#include "lss/runtime/link/board.h"
#include "lss/runtime/link/ring.h"

// A link between a part of this host and one of another.
typedef struct {
  Ring ring;       // that end of it which the part on the other host would have
  bool leaves;     // else it comes
  uint32_t number; // in the network
  uint32_t part;   // of this host
  uint32_t host;   // the other one
  uint32_t peer;   // the part there
  uint64_t taken;  // it leaves: entries that were taken there; it comes: entries whose taking was said there
  uint64_t said;   // it leaves: the promise that was said there
  bool all_said;   // it leaves: and so was all that the part has sent
} CarriedLink;

// What another host was told, or has told.
typedef struct {
  CarriedLink *links; // that lead there or come from there
  uint32_t link_count;
  Parcel parcel;
  size_t changes;    // of the list of changes
  uint32_t *leaving; // parts of this host that have left, which it does not know yet
  uint32_t leaving_count;
  uint32_t broken, stopped; // of the board; of the carrier
  uint32_t end, end_seat;   // of the end that counts
  uint64_t end_at;
  bool last_sent, last_came; // nothing comes any more
} OtherHost;

// Turns in which promises are held back while an agreement is awaited.
typedef struct {
  uint32_t turns;          // since it is
  uint32_t in_vain, pause; // waits without that after the last one in vain; and how many of them are left
} HoldBack;

typedef struct {
  Board board;
  uint32_t host, host_count;
  const uint32_t *host_of; // of each part
  CarriedLink *links;
  uint32_t link_count;
  OtherHost *others; // by host
  Agreement agreement;
  HoldBack holding;
  bool holds_back; // promises, in this turn
  uint32_t *parts; // of this host
  uint32_t part_count;
  Changes changes;    // of them, which some host does not know yet
  ChangeKnown *known; // of each of them
  bool exited;        // all parts of this host have ended: said by whoever started them
  bool stopped;       // a part cannot take part: all are to end at once, as Ctrl-C ends them
  // ---- What went wrong
  const char *fault; // words, or NULL
  uint32_t fault_host;
  uint32_t fault_link; // in the network; UINT32_MAX: none
} Carrier;

// Before: board, hosts and links, of each of which ring, direction, number, parts and host.  `process` is this one.
// False: out of memory.
bool carrier_begin(Carrier *carrier, uint32_t process);
void carrier_end(Carrier *carrier);
// Takes what has come, and sends what there is.  True: there was something.  `process` sits for the parts of other
// hosts when they have come.
bool carrier_turn(Carrier *carrier, uint32_t process);
// No host needs this carrier any more.
bool carrier_is_complete(const Carrier *carrier);

#endif
