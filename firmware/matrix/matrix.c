// Cores multiply two matrices together: each takes the next row of the product until none is left, with load-linked and
// store-conditional, and the last one to finish adds up the product and ends the run.  Markers 1 and 2 are where the
// multiplication begins and where it is done.
#include "console.h"
#include "fetch_add.h"
#include "marker.h"

enum { SIZE = 40, SUM = 1248000 };

volatile unsigned cores; // how many have started; start.S counts
static volatile unsigned next, rows_done, started;
static int left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

// The first core fills both matrices while the others wait.
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
