/* The flags of order.h, set in three ways with the same result: by the memory, with LL/SC, and by plain references
 * under a lock.
 */
#include "state.h"

static inline u32 set_flag(u32 *word, u32 bit, u32 way) {
  volatile u32 *flags = word;
  if (way == ORDER_ATOMIC) return memory_set(flags, bit);
  if (way == ORDER_LINKED) return linked_or(flags, 1u << bit);
  u32 old = *flags;
  *flags = old | 1u << bit;
  return old;
}

static inline u32 finish(struct order *order, u32 bundle, u32 way) {
  u32 at = bundle, bit = at % ORDER_FLAGS + 1, *word = &order->flags[at / ORDER_FLAGS % ORDER_WORDS];
  u32 flags = set_flag(word, bit, way);
  if (~flags & ((1u << bit) - 1)) return 0;
  for (;;) {
    flags >>= bit;
    u32 last = at | (ORDER_FLAGS - 1);
    do {
      at++;
      flags >>= 1;
    } while (flags & 1);
    if (at <= last) break;
    /* The word is complete.  Nobody touches it until its bundles are claimed anew, which only this run makes possible.
     */
    *(volatile u32 *)word = 0;
    word = &order->flags[at / ORDER_FLAGS % ORDER_WORDS];
    flags = set_flag(word, ORDER_COMPLETE_BIT, way);
    if (!(flags & 2)) break;
    bit = 1;
  }
  u32 end = order->end[(at - 1) % ORDER_BUNDLES], start = order->end[(bundle - 1) % ORDER_BUNDLES];
  return ((end >> 16) - (start >> 16)) << 16 | ((end - start) & 0xffff);
}

__attribute__((noinline)) u32 order_finish(struct order *order, u32 bundle) {
  compiler_barrier();
  if (state->ordering == ORDER_ATOMIC) return finish(order, bundle, ORDER_ATOMIC);
  if (state->ordering == ORDER_LINKED) return finish(order, bundle, ORDER_LINKED);
  lock(&order->lock);
  u32 run = finish(order, bundle, ORDER_LOCKED);
  unlock(&order->lock);
  return run;
}
