// What LMBench measures, between markers 1 and 2.
//
//   latency memory SIZE STRIDE [contiguous|scattered]
//     follows pointers through an array of SIZE bytes, each STRIDE bytes after the one before
//
// Marker 4 comes when the array is there: from then on a machine with two processors should simulate in detail.  One
// way through the array comes before marker 1.
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

enum { LOADS = 16384, UNROLLED = 16, FRAGMENTS = 16 << 20 };

static void fail(const char *why) {
  fprintf(stderr, "latency: %s\n", why);
  exit(2);
}

// Follows so many pointers, a multiple of UNROLLED.
static void **follow(void **place, size_t loads) {
  for (size_t n = 0; n < loads; n += UNROLLED) {
#pragma GCC unroll 16
    for (int k = 0; k < UNROLLED; k++) place = *place;
  }
  return place;
}

// The pointers of an array, the last of which leads to the first.  Unless pages may be `scattered`, it is the end of a
// larger mapping: the kernel takes the beginning of that from fragments of memory, and then pages that follow one
// another in memory, of which no two more than needed share their place in a cache.
static char *array_of(size_t size, size_t stride, int scattered) {
  const size_t before = scattered ? 0 : FRAGMENTS;
  char *array = mmap(NULL, before + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (array == MAP_FAILED) fail("there is too little memory");
  array += before;
  for (size_t at = 0; at < size; at += stride) *(void **)(array + at) = array + (at + stride < size ? at + stride : 0);
  return array;
}

static void memory(size_t size, size_t stride, int scattered) {
  if (stride % sizeof(void *) || size % stride) fail("SIZE must be a multiple of STRIDE, and that of a pointer");
  void **place = (void **)array_of(size, stride, scattered);
  marker(4);
  place = follow(place, (size / stride + UNROLLED - 1) / UNROLLED * UNROLLED);
  marker(1);
  place = follow(place, LOADS);
  marker(2);
  printf("%d loads\n", place != NULL ? LOADS : 0);
}

int main(int count, char **words) {
  const int scattered = count == 5 && !strcmp(words[4], "scattered");
  const int contiguous = count == 4 || (count == 5 && !strcmp(words[4], "contiguous"));
  if ((contiguous || scattered) && !strcmp(words[1], "memory")) {
    memory(number(words[2], "SIZE", 1), number(words[3], "STRIDE", 1), scattered);
    return 0;
  }
  fail("usage: latency memory SIZE STRIDE [contiguous|scattered]");
}
