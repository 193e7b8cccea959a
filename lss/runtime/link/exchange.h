// What one part of a run exchanges with the others: items over rings, promises, and how far it may step.
//
// A part may step the instants before its limit: the least of what its senders promise (ring.h), or, when all wait,
// one cut after the instant before which nothing happens anywhere (board.h).  Items are delivered between two steps
// only, and only those that were sent before the next instant: so the state of a part is at every instant that of the
// same part in one process.  What was sent later waits in its ring, and the first arrival of it bounds the limit.
//
// A sender never waits in the middle of a step: what does not fit into a ring is kept here until there is room, and the
// part takes no further step before.
//
// Promises are published when a part waits, and on the way, so that two parts on two cores go on at the same time.  A
// part that waits looks for a while whether the one promise that it lacks has come: where a core of its own runs the
// neighbour it soon has, and a sleep costs as much as the steps of many cycles.  Where that was in vain lately, it
// sleeps at once.  Who sleeps says what it lacks, and is woken when that is there.  Who goes on itself wakes it only
// where cores of their own seem to run both: on one core, whoever is woken interrupts who has woken it.
//
// This knows neither the engine nor the files of a network, so that it is tested without them (tests/link).
#ifndef SPINACH_LINK_EXCHANGE_H
#define SPINACH_LINK_EXCHANGE_H

#include "lss/runtime/link/board.h"
#include "lss/runtime/link/ring.h"

// What a ring has had no room for.
typedef struct {
  uint8_t *bytes; // a RingEntry and an item each
  size_t first, end, room;
} ExchangeSpill;

typedef struct {
  Ring ring;
  uint32_t peer;   // the part at the other end
  uint64_t latest; // arrival of all that has come over it
  bool fresh;      // items were sent since this part waited last
  ExchangeSpill spill;
} ExchangeLink;

typedef struct {
  Board board;
  uint32_t in_count, out_count;
  ExchangeLink *in, *out;
  uint32_t *neighbours; // parts at other ends, each once
  uint32_t neighbour_count;
  uint64_t least_cut, greatest_cut; // of what comes in; nothing does: UINT64_MAX and 0
  uint64_t stride;                  // ticks from one promise to the next on the way
  uint64_t limit;                   // all instants before it may be stepped
  uint64_t publish_at;              // at this instant a promise is due
  uint64_t relied;                  // the latest limit by which was stepped: nothing may arrive before it any more
  uint64_t pending;                 // the first arrival of what waits in a ring; UINT64_MAX: none does
  uint64_t sent, seen;              // items, in all
  bool spilled;                     // some of those sent had no room
  uint64_t meeting;                 // the number of the meeting at hand
  uint64_t rest_until;              // an instant until which a part that rests may step ends its wait
  uint64_t own_known;               // items that were seen when `own` was called last in this wait
  // What a wait lacks: that more than `lacked` is promised on the incoming link `lacking`; `in_count`: nothing.
  uint32_t lacking;
  uint64_t lacked;
  uint32_t needing;        // the link of which the neighbours know that it is lacking
  uint32_t spin;           // looks at what is lacking before it sleeps
  uint32_t in_vain, pause; // waits without a look after the last one in vain; and how many of them are left
  uint64_t waits, waited_ns;
  // ---- Whose part it is
  void *data;
  // An item came on an incoming link; it is read once, since others may still change it.  False: there is no room,
  // which is an error.
  bool (*deliver)(void *data, uint32_t link, const RingEntry *entry, const void *item);
  // When something happens here by itself if nothing comes; at least `now`, and UINT64_MAX for never: since *since
  // then.
  uint64_t (*own)(void *data, uint64_t now, uint64_t *since);
  bool (*rests)(void *data);      // nothing happens here by itself any more; may be NULL
  bool (*is_stopped)(void *data); // waiting is over, whatever comes; may be NULL
  // ---- What went wrong
  const char *fault;   // words, or NULL
  uint32_t fault_part; // the part that has done it
  uint32_t fault_link; // the incoming (or, from in_count on, outgoing) link; UINT32_MAX: none
} Exchange;

// Before: board, links, and the members of whose part it is.  False: out of memory.
bool exchange_begin(Exchange *exchange);
void exchange_end(Exchange *exchange);

// The instant before which this part may step, whose next instant is `now`; not later than `now` only if the run ends:
// since `is_stopped`, at an instant on the board, or by a fault.
uint64_t exchange_reach(Exchange *exchange, uint64_t now);
// Waits in a part that rests until something has come, the end is known, or it may step the instant `until`.
void exchange_rest(Exchange *exchange, uint64_t now, uint64_t until);
// Waits in a part that is at its n-th meeting, at the instant `now`, until all are.  False: a fault, a part is gone,
// the run ends before, or it is to stop.
bool exchange_attend(Exchange *exchange, uint64_t now, uint64_t n);
// That instant, if this part does nothing before `own` unless something comes: if all others wait, it may be later than
// what `exchange_reach` has returned.  Nothing is waited for.
uint64_t exchange_reach_on(Exchange *exchange, uint64_t now, uint64_t own);
// An item is sent at the instant `now`.
void exchange_send(Exchange *exchange, uint32_t link, uint64_t now, uint64_t arrives, const void *item);
// All that was sent to this part before `until` is delivered, and nothing else: all instants before it are over here,
// and no other.  False: a fault, a part is gone, or the run ends before `until`.
bool exchange_complete(Exchange *exchange, uint64_t until);
// No instant before `until` is stepped here any more, and nothing is sent before: for the end, after all was sent.
void exchange_pass(Exchange *exchange, uint64_t until);

#endif
