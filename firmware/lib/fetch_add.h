// Cores that share memory count together: an atomic addition with load-linked and store-conditional (MIPS II).
#ifndef LIB_FETCH_ADD_H
#define LIB_FETCH_ADD_H

// Adds to a shared word; gives its old value.
static inline unsigned fetch_add(volatile unsigned *word, unsigned number) {
  unsigned old, changed;
  do
    __asm__ volatile(".set push\n .set noreorder\n ll %0, %2\n addu %1, %0, %3\n sc %1, %2\n .set pop"
                     : "=&r"(old), "=&r"(changed), "+m"(*word)
                     : "r"(number)
                     : "memory");
  while (!changed);
  return old;
}

#endif
