/* Cores multiply two matrices together: each takes the next row of the product until none is left, with load-linked and
 * store-conditional, and the last one to finish adds up the product and ends the run.  Markers 1 and 2 stand where the
 * multiplication begins and where it is done.
 */
#include "console.h"
#include "marker.h"

enum { SIZE = 40, SUM = 1248000 };

volatile unsigned cores; /* how many have started; start.S counts */
static volatile unsigned next, rows_done, started;
static int left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

/* Adds to a shared word; gives its old value. */
static unsigned fetch_add(volatile unsigned *word, unsigned number) {
  unsigned old, changed;
  do
    __asm__ volatile(".set push\n .set noreorder\n ll %0, %2\n addu %1, %0, %3\n sc %1, %2\n .set pop"
                     : "=&r"(old), "=&r"(changed), "+m"(*word)
                     : "r"(number)
                     : "memory");
  while (!changed);
  return old;
}

/* The first core fills both matrices while the others wait. */
static void fill(unsigned number) {
  if (number) {
    while (!started) continue;
    return;
  }
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      left[i][j] = i + j;
      right[i][j] = (i ^ j) & 1;
    }
  marker(1);
  started = 1;
}

static void multiply_row(unsigned row) {
  for (int j = 0; j < SIZE; j++) {
    int sum = 0;
    for (int k = 0; k < SIZE; k++) sum += left[row][k] * right[k][j];
    product[row][j] = sum;
  }
}

void main(unsigned number) {
  fill(number);
  for (;;) {
    unsigned row = fetch_add(&next, 1);
    if (row >= SIZE) return;
    multiply_row(row);
    if (fetch_add(&rows_done, 1) + 1 < SIZE) continue;
    marker(2);
    int sum = 0;
    for (int i = 0; i < SIZE; i++)
      for (int j = 0; j < SIZE; j++) sum += product[i][j];
    print_number((unsigned)sum);
    print("\n");
    exit_with(sum == SUM ? 0 : 1);
  }
}
