// What the cores share, and the distributed task queue.
//
// Work is in the rings: what host or hardware has put there and nobody has claimed is the queue of a handler.  A
// core takes a task by claiming a bundle of work units under the lock of the queue, and keeps what describes it in an
// event structure; then it works without a lock, marks the bundle as finished, and passes on the run of finished
// bundles if that is now its task (order.h).  Room for all that a task will need is reserved with the claim, so no
// task waits or has to be put back.  All handlers are re-entrant, and any core takes any task.
#ifndef NIC10G_STATE_H
#define NIC10G_STATE_H

#include "order.h"

enum {
  BUNDLE = 16,      // frames in a task at most, a power of two; received bundles do not cross multiples of it
  FETCH = 32,       // descriptors in one fetch at most; fetches do not cross multiples of it
  FETCH_LEAST = 16, // fewer are fetched only when hardly any are ready
};

// A bundle of frames, as the claim describes it to the handler.
struct event {
  u32 first;  // first unit: descriptor to send, frame received
  u32 count;  // units
  u32 other;  // send: first frame; receive: first entry of the DMA write ring
  u32 bundle; // in its order
  u32 sent;   // receive: descriptors sent, for the status block
};

// The host's buffer descriptors, which are fetched ahead.  Caches are as large as the host's rings can be, so that what
// the host may not yet use anew is not overwritten here either.
struct fetch_queue {
  u32 lock;
  u32 queued; // entries of the fetch ring
  u32 done;   // those whose end was seen
  u32 send_requested, receive_requested;
  volatile u32 send_ready, receive_ready;
  u32 tail; // send descriptors at the end, whose frame is not there as a whole
};

// Frames to send, in bundles that were made up when their descriptors came (fetch.c).  Entry k of the DMA read ring is
// for send descriptor k.
struct send_queue {
  u32 lock;
  volatile u32 bundles; // claimed
  u32 claimed;          // descriptors in them
  u32 frames;           // and frames
};

// All that goes to the host, through one DMA ring in order.  Frame k uses place k of the MAC's ring, buffer k of the
// host and return entry k.
struct write_queue {
  u32 lock;
  volatile u32 claimed; // frames received
  u32 entries;          // of the DMA write ring
  u32 sent;             // descriptors, as the host was notified last
  u32 unreported;       // frames since it was interrupted
  u32 interrupt_after;  // entry of the DMA write ring after which to interrupt
  volatile u32 interrupting;
  u32 reported_at; // microseconds
  u32 failures;    // transfers that failed on the bus
};

struct state {
  volatile u32 ready; // the first core has initialised everything
  u32 ordering;
  u32 bundle;
  struct fetch_queue fetch;
  struct send_queue send;
  struct write_queue write;
  struct order send_order;  // of the DMA read ring (high) and the MAC's send ring (low)
  struct order write_order; // of the DMA write ring (high) and the MAC's receive ring (low)
  struct send_descriptor sends[RING];
  struct receive_descriptor buffers[RING];
  struct return_entry returns[RING];
  struct status status[ORDER_BUNDLES]; // by bundle
};

_Static_assert(sizeof(struct state) <= 0x8400, "the linker script keeps so much room for it");

// Reached through the global pointer, so that a field costs one instruction.
register struct state *const state __asm__("$28");

// Each of them returns whether there was something to do.
u32 fetch_task(void);
u32 send_task(void);
u32 receive_task(void);
u32 report_task(void);

// write.c: the last entry of a bundle, and its end.
void write_status(u32 entry, u32 bundle, u32 returned, u32 sent);
void write_finish(u32 bundle);

#endif
