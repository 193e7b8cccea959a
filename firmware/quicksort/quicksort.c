// Sorts 1,024 numbers by quicksort, others in each round, and fails if two neighbours are in wrong order.  Branches on
// values that nobody foresees, and short loops between them.
#include "console.h"

enum { NUMBERS = 1024, ROUNDS = 8 };

static unsigned numbers[NUMBERS];

// Sorts the numbers between two places, both included.
static void sort(int first, int last) {
  while (first < last) {
    const unsigned middle = numbers[first + (last - first) / 2];
    int low = first, high = last;
    while (low <= high) {
      while (numbers[low] < middle) low++;
      while (numbers[high] > middle) high--;
      if (low > high) break;
      const unsigned number = numbers[low];
      numbers[low++] = numbers[high];
      numbers[high--] = number;
    }
    if (first < high) sort(first, high);
    first = low;
  }
}

int main(void) {
  unsigned wrong = 0, bits = 1;
  for (unsigned round = 0; round < ROUNDS; round++) {
    for (unsigned n = 0; n < NUMBERS; n++) {
      bits ^= bits << 13, bits ^= bits >> 17, bits ^= bits << 5;
      numbers[n] = bits;
    }
    sort(0, NUMBERS - 1);
    for (unsigned n = 1; n < NUMBERS; n++) wrong += numbers[n - 1] > numbers[n];
  }
  print_number(wrong);
  print(" pairs in wrong order\n");
  return (int)wrong;
}
