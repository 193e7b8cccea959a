// Processors sort numbers together: each counts and moves a part of them, then they take buckets from a common list and
// sort those.  Numbers are counted under locks, places and buckets are taken by load-linked and store-conditional, and
// between the steps all wait for the last one.  The first processor checks that the result is sorted and made of the
// same numbers. Markers 1 and 2 are where the work begins and where it is done.
#include "console.h"
#include "marker.h"
#include "together.h"

enum { MOST = 4096, BUCKETS = 64, LOCKS = 4 };

static unsigned numbers[MOST], sorted[MOST];
static unsigned sizes[BUCKETS], starts[BUCKETS];
static volatile unsigned places[BUCKETS], locks[LOCKS], next;
static struct barrier barrier;

// A number in decimal, of the text for the program; 0 if there is none.
static unsigned argument(void) {
  const volatile char *text = (const volatile char *)MAP_ARGUMENTS_BASE;
  unsigned number = 0;
  for (; *text >= '0' && *text <= '9'; text++) number = 10 * number + (unsigned)(*text - '0');
  return number;
}

// What is to be sorted: the same numbers however many processors there are.
static unsigned chance(unsigned k) {
  k = (k ^ 0x2545f491) * 0x9e3779b1;
  k = (k ^ k >> 15) * 0x85ebca77;
  return k ^ k >> 13;
}

static unsigned bucket_of(unsigned number) {
  return number >> 26;
}

static void sort_bucket(unsigned *first, unsigned size) {
  for (unsigned k = 1; k < size; k++) {
    const unsigned number = first[k];
    unsigned at = k;
    for (; at && first[at - 1] > number; at--) first[at] = first[at - 1];
    first[at] = number;
  }
}

// Every processor has the elements from its own number on, `processors` apart, so that lines are shared by all.
static void sort(unsigned own, unsigned processors, unsigned count) {
  for (unsigned k = own; k < count; k += processors) numbers[k] = chance(k);
  barrier_wait(&barrier, processors);
  for (unsigned k = own; k < count; k += processors) {
    const unsigned bucket = bucket_of(numbers[(k + 1) % count]); // another processor's number
    lock(&locks[bucket % LOCKS]);
    sizes[bucket]++;
    unlock(&locks[bucket % LOCKS]);
  }
  barrier_wait(&barrier, processors);
  if (!own)
    for (unsigned b = 1; b < BUCKETS; b++) places[b] = starts[b] = starts[b - 1] + sizes[b - 1];
  barrier_wait(&barrier, processors);
  for (unsigned k = own; k < count; k += processors) sorted[fetch_add(&places[bucket_of(numbers[k])], 1)] = numbers[k];
  barrier_wait(&barrier, processors);
  for (unsigned b; (b = fetch_add(&next, 1)) < BUCKETS;) sort_bucket(&sorted[starts[b]], sizes[b]);
  barrier_wait(&barrier, processors);
}

// Whether the numbers are in order, and have the sum and the squares of those that there were.
static int right(unsigned count) {
  unsigned sum = 0, squares = 0;
  for (unsigned k = 0; k < count; k++) {
    if (k && sorted[k - 1] > sorted[k]) return 0;
    sum += sorted[k] - chance(k);
    squares ^= sorted[k] * sorted[k] ^ chance(k) * chance(k);
  }
  return !sum && !squares;
}

void main(unsigned number) {
  const unsigned processors = *(volatile unsigned char *)MAP_PROCESSORS_BASE, given = argument();
  const unsigned count = given && given < MOST ? given : MOST;
  if (!number) marker(1);
  sort(number, processors, count);
  if (number) return;
  marker(2);
  print_number(count);
  print(right(count) ? " numbers are sorted\n" : " numbers are NOT sorted\n");
  exit_with(right(count) ? 0 : 1);
}
