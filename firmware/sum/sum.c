// Cores add up the squares of the numbers below 1000 together: each takes the next block of 50 until none is left, adds
// its part to the total under load-linked and store-conditional, and the last one to finish prints.
#include "console.h"
#include "fetch_add.h"

enum { NUMBERS = 1000, BLOCK = 50, SUM = 332833500 };

volatile unsigned cores; // how many have started; start.S counts
static volatile unsigned next, total, blocks_done;

void main(unsigned number) {
  (void)number;
  for (;;) {
    unsigned first = fetch_add(&next, BLOCK), part = 0;
    if (first >= NUMBERS) return;
    for (unsigned n = first; n < first + BLOCK; n++) part += n * n;
    fetch_add(&total, part);
    if (fetch_add(&blocks_done, 1) + 1 < NUMBERS / BLOCK) continue;
    print_number(cores);
    print(" cores: the squares below 1000 add up to ");
    print_number(total);
    print("\n");
    exit_with(total == SUM ? 0 : 1);
  }
}
