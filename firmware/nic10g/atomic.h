// What several cores do to one word of memory at the same time.  LL/SC is what the instruction set offers; a window
// of the memory does in one reference what the authors' follow-up calls `set`, and says what was set before.
//
// A core's references are seen by all in program order, so what was written before a lock is given back is there for
// whoever takes the lock next; only the compiler must be kept from moving anything.
#ifndef NIC10G_ATOMIC_H
#define NIC10G_ATOMIC_H

#include "nic10g.h"

static inline void compiler_barrier(void) {
  __asm__ volatile("" : : : "memory");
}

// Takes a lock if it is free; looks first, so that those who wait do not disturb the holder.
static inline u32 try_lock(u32 *word) {
  u32 got;
  __asm__ volatile(".set push\n"
                   ".set noreorder\n"
                   "  ll    %0, %1\n"
                   "  bnezl %0, 1f\n"
                   "  move  %0, $zero\n"
                   "  li    %0, 1\n"
                   "  sc    %0, %1\n"
                   "1:\n"
                   ".set pop"
                   : "=&r"(got), "+m"(*word)
                   :
                   : "memory");
  return got;
}

static inline void lock(u32 *word) {
  while (!try_lock(word)) {
  }
}

static inline void unlock(u32 *word) {
  compiler_barrier();
  *(volatile u32 *)word = 0;
}

// Sets bits, and returns what the word was before.
static inline u32 linked_or(u32 *word, u32 bits) {
  u32 old, new;
  __asm__ volatile(".set push\n"
                   ".set noreorder\n"
                   "1:\n"
                   "  ll    %0, 0(%2)\n"
                   "  or    %1, %0, %3\n"
                   "  sc    %1, 0(%2)\n"
                   "  beqz  %1, 1b\n"
                   "  nop\n"
                   ".set pop"
                   : "=&r"(old), "=&r"(new)
                   : "r"(word), "r"(bits)
                   : "memory");
  return old;
}

// Sets bit number `bit`, likewise, by the memory itself.
static inline u32 memory_set(u32 *word, u32 bit) {
  return *(volatile u32 *)(MAP_SET_WINDOW_BASE + (bit << 18) + (u32)word);
}

#endif
