// The flags of order.h, set by the memory, with LL/SC, or by plain references under a lock.
//
// One atomic OR tells a core whether it completed a run, and it alone: then no flag below its own is missing, and the
// run begins with its own bundle.  For that a word of flags knows whether all words before it are complete.
#include "state.h"

// A complete word is cleared before its run is passed on; until then nobody can claim its bundles anew.
static inline u32 finish(struct order *order, u32 bundle, u32 way) {
  u32 *word = &order->flags[bundle / ORDER_FLAGS % ORDER_WORDS], place = bundle % ORDER_FLAGS + 1, flag = 1u << place;
  u32 flags = way == ORDER_ATOMIC ? memory_set(word, place) : linked_or(word, flag);
  if (~flags & (flag - 1)) return 0;
  u32 moved = 0;
  for (;;) {
    do {
      moved += order->step[bundle++ % ORDER_BUNDLES];
      flag <<= 1;
    } while (flags & flag);
    if (bundle % ORDER_FLAGS) return moved;
    *(volatile u32 *)word = 0;
    word = &order->flags[bundle / ORDER_FLAGS % ORDER_WORDS];
    flags = way == ORDER_ATOMIC ? memory_set(word, 0) : linked_or(word, ORDER_COMPLETE);
    flag = 2;
    if (!(flags & flag)) return moved;
  }
}

// The same without anything atomic but the lock.
static inline u32 finish_locked(struct order *order, u32 bundle) {
  u32 moved = 0;
  lock(&order->lock);
  order->flags[bundle / ORDER_FLAGS % ORDER_WORDS] |= 1u << bundle % ORDER_FLAGS;
  u32 first = order->passed, next = first;
  for (;;) {
    u32 *word = &order->flags[next / ORDER_FLAGS % ORDER_WORDS], flag = 1u << next % ORDER_FLAGS, flags = *word;
    if (!(flags & flag)) break;
    do {
      moved += order->step[next++ % ORDER_BUNDLES];
      flags -= flag;
      flag <<= 1;
    } while (flags & flag);
    *word = flags;
  }
  if (next != first) order->passed = next;
  unlock(&order->lock);
  return moved;
}

__attribute__((noinline)) u32 order_finish(struct order *order, u32 bundle) {
  compiler_barrier();
  u32 way = state->ordering;
  if (way == ORDER_ATOMIC) return finish(order, bundle, ORDER_ATOMIC);
  if (way == ORDER_LINKED) return finish(order, bundle, ORDER_LINKED);
  return finish_locked(order, bundle);
}
