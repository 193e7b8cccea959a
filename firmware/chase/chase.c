// Follows eight chains of pointers at the same time through 64 KiB, a line of 32 bytes a step, and fails if one does
// not come back to its beginning.  Every step misses a smaller cache, and waits for the step before it in its own chain
// alone: so many misses can be under way at a time as there are chains.  Markers 1 and 2 enclose the steps.
#include "console.h"
#include "marker.h"

enum { CHAINS = 8, NODES = 256, ROUNDS = 4, STRIDE = 97 }; // the stride and the nodes have no divisor in common

struct node {
  struct node *next;
  unsigned rest_of_line[7];
};

static struct node nodes[CHAINS][NODES] __attribute__((aligned(32)));

int main(void) {
  struct node *at[CHAINS];
  for (unsigned chain = 0; chain < CHAINS; chain++) {
    for (unsigned n = 0; n < NODES; n++) nodes[chain][n].next = &nodes[chain][(n + STRIDE) % NODES];
    at[chain] = &nodes[chain][chain * (NODES / CHAINS)]; // in another set of a cache than the other chains
  }
  marker(1);
#pragma clang loop unroll(disable)
  for (unsigned step = 0; step < ROUNDS * NODES; step++)
#pragma clang loop unroll(full)
    for (unsigned chain = 0; chain < CHAINS; chain++) at[chain] = at[chain]->next;
  marker(2);
  unsigned lost = 0;
  for (unsigned chain = 0; chain < CHAINS; chain++) lost += at[chain] != &nodes[chain][chain * (NODES / CHAINS)];
  print_number(lost);
  print(" chains lost\n");
  return (int)lost;
}
