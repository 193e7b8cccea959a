// A ring in shared memory: the items of one link, on their way from the part that sends them to the part that receives
// them, and the sender's promise of when nothing more arrives.
//
// There is one for each link and direction.  Each word has one writer: `promise`, `tail` and `lacks_room` the sender,
// `head` and `needs` the receiver.  Places are counts since the run began, and the entry of a place is at its remainder
// by the capacity.
//
//   sender    writes the entry, then `tail` (release), later `promise` (release)
//   receiver  reads `promise` (acquire), then `tail`: what arrives before the promise it has read is among the entries
//
// All instants are in ticks.  What the other end wrote is not trusted: an end that finds something there that no sender
// or receiver writes says so in `fault`, and touches the ring no more.
#ifndef SPINACH_LINK_RING_H
#define SPINACH_LINK_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What both processes see.  All of it is zero at first.
typedef struct {
  _Alignas(64) _Atomic uint64_t promise; // nothing that is not among the entries yet arrives before this instant
  _Atomic uint64_t tail;                 // entries that were written
  _Atomic uint32_t lacks_room;           // the sender has more to write: it wants to know when entries are taken
  _Alignas(64) _Atomic uint64_t head;    // entries that were taken
  _Atomic uint64_t needs;         // the receiver sleeps until more than this is promised; UINT64_MAX: not for that
  _Alignas(64) uint8_t entries[]; // a RingEntry each, with the bytes of the item behind it
} RingMemory;

typedef struct {
  uint64_t sent, arrives; // instants
} RingEntry;

// One end, in its own process.
typedef struct {
  RingMemory *memory;
  uint64_t cut;       // ticks: the least from `sent` to `arrives`
  uint32_t item_size; // bytes
  uint32_t stride;    // bytes from one entry to the next
  uint32_t capacity;  // entries: a power of two
  uint64_t place;     // of the next entry: that this end writes, or that it takes
  uint64_t other;     // how far the other end was at the last look
  uint64_t promise;   // the latest that was made here, or read
  uint64_t sent;      // the instant at which the latest entry was sent that this end has looked at
  const char *fault;  // words on what the other end did wrong; NULL: nothing
} Ring;

// Bytes of the shared memory of a ring whose receiver holds `slots` items of so many bytes: a multiple of 64.
size_t ring_bytes(uint32_t item_size, uint32_t slots);

// An end at that memory, which is aligned to 64 bytes.
void ring_attach(Ring *ring, void *memory, uint32_t item_size, uint32_t slots, uint64_t cut);

// ---- The sender

// False: there is no room, or a fault.  `sent` is not less than that of the entry before.
bool ring_send(Ring *ring, uint64_t sent, uint64_t arrives, const void *item);
// The instant at which the oldest entry was sent that the receiver has not taken; UINT64_MAX: there is none, or a
// fault.
uint64_t ring_oldest(Ring *ring);
// Entries that the receiver has taken since the run began, as far as that is known: it is looked at.
uint64_t ring_taken(Ring *ring);
void ring_promise(Ring *ring, uint64_t instant);
// Whether what was promised is by more than `ticks` more than what the receiver needs, if it sleeps.
bool ring_helps(const Ring *ring, uint64_t ticks);

// ---- The receiver

// Reads the promise, and how many entries there are.  False: a fault.
bool ring_look(Ring *ring);
// The first entry of those seen at the last look that was not taken, and its item, which is to be copied once, since
// the sender may still change it.  NULL: there is none, or a fault.
const void *ring_first(Ring *ring, RingEntry *entry);
// That entry is free.
void ring_take(Ring *ring);
// Whether the sender waits for free entries.  After a fence.
bool ring_lacks_room(const Ring *ring);
// What the receiver needs when it sleeps: a promise of more than `instant`; UINT64_MAX: none of this ring.
void ring_need(Ring *ring, uint64_t instant);
// Whether more than `instant` is promised: a word is read, and nothing else done.
bool ring_promises(const Ring *ring, uint64_t instant);

#endif
