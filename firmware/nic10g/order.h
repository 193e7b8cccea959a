// Order.  Bundles of work are entered in order and finished in any; what they put into a ring of the hardware may only
// be passed on behind all that was entered before.  Every bundle has a flag: who finishes one sets it, and who
// sets the flag that all later ones waited for passes on the run of finished bundles.  Pointers of the hardware are
// moved by adding, so runs that two cores pass on need not reach them in order.
//
// Flags are used anew after ORDER_BUNDLES bundles, which is more than a ring of the hardware can hold.
#ifndef NIC10G_ORDER_H
#define NIC10G_ORDER_H

#include "atomic.h"

enum { ORDER_BUNDLES = 512, ORDER_FLAGS = 16, ORDER_WORDS = ORDER_BUNDLES / ORDER_FLAGS };

// In a word of flags, below them: all words before this one are complete.
enum { ORDER_COMPLETE = 1 };

struct order {
  volatile u32 next; // bundle entered next; guarded by the lock of those who enter
  u32 lock;          // of the flags, where they are set by plain references
  u32 passed;        // likewise: bundles passed on
  u32 flags[ORDER_WORDS];
  u32 step[ORDER_BUNDLES]; // how far a bundle moves two pointers of the hardware: high << 16 | low
};

// Enters a bundle; returns its number.
static inline u32 order_enter(struct order *order, u32 high, u32 low) {
  u32 bundle = order->next;
  order->step[bundle % ORDER_BUNDLES] = high << 16 | low;
  compiler_barrier();
  order->next = bundle + 1;
  return bundle;
}

// Marks `bundle` as finished.  Returns how far the caller has to move the two pointers, packed as a step; often 0.
u32 order_finish(struct order *order, u32 bundle);

#endif
