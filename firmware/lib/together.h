// Processors that share memory wait for each other and keep each other out: locks and barriers of load-linked and
// store-conditional. What one wrote before it unlocks or comes to a barrier, others see behind their lock or that
// barrier.
#ifndef LIB_TOGETHER_H
#define LIB_TOGETHER_H

#include "fetch_add.h"

// All stores before it are seen by all before any load or store behind it is done.
static inline void order(void) {
  __asm__ volatile("sync" ::: "memory");
}

// Takes a lock, which is a word that begins as 0; waits in its own cache while another has it.
static inline void lock(volatile unsigned *word) {
  unsigned taken;
  do {
    while (*word) continue;
    __asm__ volatile(
        ".set push\n .set noreorder\n ll %0, %1\n bnez %0, 1f\n li %0, 0\n li %0, 1\n sc %0, %1\n1:\n .set pop"
        : "=&r"(taken), "+m"(*word)::"memory");
  } while (!taken);
  order();
}

static inline void unlock(volatile unsigned *word) {
  order();
  *word = 0;
}

// Where `processors` wait for each other, as often as they like; it begins as zeros.
struct barrier {
  volatile unsigned arrived;
  volatile unsigned left; // how often all were here
};

static inline void barrier_wait(struct barrier *barrier, unsigned processors) {
  const unsigned round = barrier->left;
  order();
  if (fetch_add(&barrier->arrived, 1) + 1 == processors) {
    barrier->arrived = 0;
    order();
    barrier->left = round + 1;
  } else {
    while (barrier->left == round) continue;
  }
  order();
}

#endif
