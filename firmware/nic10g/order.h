/* Order.  Bundles of work are claimed in order and finished in any; what they put into a ring of the hardware may only
 * be passed on behind everything that was claimed before.  Every bundle has a flag: who finishes one sets it, and who
 * sets the flag that all later ones waited for passes on the run of finished bundles.
 *
 * A word holds 16 flags above a bit that says that all words before it are complete.  So one atomic reference tells a
 * core whether it completed a run, and it alone: the run begins with its own bundle.  The words are reused after
 * ORDER_BUNDLES bundles, which is more than a ring of the hardware can hold.
 */
#ifndef NIC10G_ORDER_H
#define NIC10G_ORDER_H

#include "atomic.h"

enum { ORDER_BUNDLES = 512, ORDER_FLAGS = 16, ORDER_WORDS = ORDER_BUNDLES / ORDER_FLAGS };

/* In a word of flags: all words before this one are complete. */
enum { ORDER_COMPLETE_BIT = 0, ORDER_COMPLETE = 1 << ORDER_COMPLETE_BIT };

struct order {
  u32 next; /* bundle claimed next; guarded by the lock of those who claim */
  u32 lock; /* of the flags, where they are set by plain references */
  u32 flags[ORDER_WORDS];
  u32 end[ORDER_BUNDLES]; /* two pointers of the hardware behind the bundle: high << 16 | low, modulo 65536 each */
};

/* Enters a bundle that ends at these counts; returns its number.  Under the lock of those who claim. */
static inline u32 order_enter(struct order *order, u32 high, u32 low) {
  u32 bundle = order->next;
  order->end[bundle % ORDER_BUNDLES] = high << 16 | (low & 0xffff);
  order->next = bundle + 1;
  return bundle;
}

/* Marks `bundle` as finished.  Returns how far the caller has to move the two pointers, packed as in `end`; mostly 0.
 */
u32 order_finish(struct order *order, u32 bundle);

#endif
