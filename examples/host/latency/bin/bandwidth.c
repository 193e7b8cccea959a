// The bandwidth of memory, as LMBench's bw_mem measures it, between markers 1 and 2.
//
// `bandwidth WAY BYTES` works on arrays of BYTES, over and over.  WAY is
//
//   bcopy, bzero       the C library's functions
//   copy, read, write  loops over words, unrolled
//   conflict           `copy` where each word has the place in all caches, and the bank of memory, of the word that it
//                      is copied to
//
// Marker 4 comes when the arrays are there: from then on a machine with two processors should simulate in detail.  One
// pass over the arrays comes before marker 1.  MEASURED bytes are measured, in as many passes as that takes, or in a
// part of one.  That is some milliseconds: the timer interrupts several times, so that its share is about the same each
// time.
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

enum {
  BLOCK = 16, // words
  MEASURED = 1 << 20,
  PERIOD = 4 << 20,        // a multiple of what a way of any cache has, and of the rows of all banks of the memory
  APART = (2 << 10) + 256, // to another bank and other places
  FRAGMENTS = 16 << 20,    // as in latency.c
};

static int *from, *to;
static volatile int total;

static void bcopy_all(size_t words) {
  memcpy(to, from, words * sizeof *to);
}
static void bzero_all(size_t words) {
  memset(to, 0, words * sizeof *to);
}

// Loops over blocks of words: the compiler unrolls what is done with one.
#define FOR_BLOCKS(words, ...)                                                                                         \
  for (size_t block = 0; block < (words); block += BLOCK) {                                                            \
    _Pragma("GCC unroll 16") for (int k = 0; k < BLOCK; k++) __VA_ARGS__;                                              \
  }

static void copy_all(size_t words) {
  int *restrict target = to;
  const int *restrict source = from;
  FOR_BLOCKS(words, target[block + k] = source[block + k])
}

static void read_all(size_t words) {
  const int *source = from;
  int sum = 0;
  FOR_BLOCKS(words, sum += source[block + k])
  total = sum;
}

static void write_all(size_t words) {
  int *target = to;
  FOR_BLOCKS(words, target[block + k] = 1)
}

static const struct {
  const char *name;
  void (*pass)(size_t words);
  int arrays;
  size_t apart;
} ways[] = {
    {"bcopy", bcopy_all, 2, APART}, {"bzero", bzero_all, 1, 0}, {"copy", copy_all, 2, APART},
    {"read", read_all, 1, 0},       {"write", write_all, 1, 0}, {"conflict", copy_all, 2, 0},
};

// One or two arrays at the end of a larger mapping, where pages follow one another in memory.
static void begin(size_t bytes, int arrays, size_t apart) {
  const size_t second = arrays == 1 ? 0 : (bytes + PERIOD - 1) / PERIOD * PERIOD + apart,
               size = FRAGMENTS + second + bytes;
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  need(memory == MAP_FAILED ? -1 : 0, "mmap");
  from = (int *)(memory + FRAGMENTS);
  to = (int *)(memory + FRAGMENTS + second);
}

static void measure(void (*pass)(size_t words), size_t bytes) {
  const size_t words = bytes / sizeof *from;
  marker(4);
  pass(words);
  marker(1);
  size_t done = 0;
  for (const size_t step = bytes < MEASURED ? bytes : MEASURED; done < MEASURED; done += step)
    pass(step / sizeof *from);
  marker(2);
  printf("%zu bytes\n", done);
}

int main(int count, char **arguments) {
  for (size_t k = 0; count == 3 && k < sizeof ways / sizeof ways[0]; k++) {
    if (strcmp(ways[k].name, arguments[1])) continue;
    const size_t bytes = number(arguments[2], "BYTES", 1);
    if (bytes % (BLOCK * sizeof *from)) {
      fprintf(stderr, "bandwidth: BYTES must be a multiple of %zu\n", BLOCK * sizeof *from);
      return 2;
    }
    begin(bytes, ways[k].arrays, ways[k].apart);
    measure(ways[k].pass, bytes);
    return 0;
  }
  fprintf(stderr, "usage: bandwidth bcopy|bzero|copy|read|write|conflict BYTES\n");
  return 2;
}
