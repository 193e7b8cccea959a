// Walks along a list of 512 nodes, which lie in memory in another order, adds up what is in them, and fails if the sum
// of a round is not that of the first.  One chain of loads, and little beside it.
#include "console.h"

enum { NODES = 512, ROUNDS = 60, STRIDE = 197 }; // the stride and the nodes have no divisor in common

struct node {
  struct node *next;
  unsigned value;
};

static struct node nodes[NODES];

static unsigned walk(const struct node *from) {
  unsigned sum = 0;
  for (; from; from = from->next) sum += from->value;
  return sum;
}

int main(void) {
  unsigned wrong = 0, expected = 0;
  for (unsigned n = 0; n < NODES; n++) {
    nodes[n].value = n * n;
    nodes[n].next = (n + STRIDE) % NODES == 0 ? 0 : &nodes[(n + STRIDE) % NODES];
    expected += n * n;
  }
  for (unsigned round = 0; round < ROUNDS; round++) wrong += walk(&nodes[0]) != expected;
  print_number(wrong);
  print(" sums wrong\n");
  return (int)wrong;
}
