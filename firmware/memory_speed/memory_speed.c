// How fast memory is, for a study that says what to measure in the text for the program: `latency SIZE STRIDE` follows
// pointers through an array of so many bytes, each the stride away from the one before; `read SIZE`, `write SIZE` and
// `copy SIZE` go over an array word by word, or copy one to another.  The first processor does it, once to have in the
// caches what they can hold, then between markers 1 and 2 as often as makes at least LEAST accesses; what is measured
// there, the simulator counts.
#include "console.h"
#include "marker.h"

#include <stdint.h>

enum { LEAST = 8192, CHAIN = 128, BLOCK = 2048, PLACE = 1 << 16 };

// In one place, so that it is in the instruction cache when it is measured.
#define HERE __attribute__((noinline))

extern char data_end[], free_end[];

static const volatile char *text = (const volatile char *)MAP_ARGUMENTS_BASE;

// The next number of the text, 0 at its end.
static unsigned next_number(void) {
  unsigned number = 0;
  while (*text && (*text < '0' || *text > '9')) text++;
  for (; *text >= '0' && *text <= '9'; text++) number = 10 * number + (unsigned)(*text - '0');
  return number;
}

// Ends the run with one line where the text is not what is asked for.
static void refuse(const char *why) {
  print("memory_speed: ");
  print(why);
  print("\n");
  exit_with(2);
}

// Loads CHAIN pointers at a time, each the address of the next.
static HERE char *follow(char *from, unsigned loads) {
  for (; loads; loads -= CHAIN)
    __asm__ volatile(".rept %1\n lw %0, 0(%0)\n .endr" : "+r"(from) : "i"(CHAIN) : "memory");
  return from;
}

static void latency(char *array, unsigned size, unsigned stride) {
  if (!stride || stride % 4 || size % stride) refuse("the size is a multiple of the stride, which is one of 4");
  for (unsigned at = 0; at < size; at += stride)
    *(char **)(array + at) = array + (at + stride < size ? at + stride : 0);
  const unsigned lap = size / stride, least = lap > LEAST ? lap : LEAST;
  const unsigned loads = (least + CHAIN - 1) / CHAIN * CHAIN;
  char *at = follow(array, loads);
  marker(1);
  at = follow(at, loads);
  marker(2);
  if (at < array || at >= array + size) refuse("the pointers lead out of the array");
}

// A pass over an array, BLOCK bytes in a turn of the loop.
static HERE void read_pass(const char *from, const char *end) {
  for (unsigned word; from < end; from += BLOCK)
    __asm__ volatile("offset = 0\n .rept %2 / 4\n lw %0, offset(%1)\n offset = offset + 4\n .endr"
                     : "=&r"(word)
                     : "r"(from), "i"(BLOCK)
                     : "memory");
}
static HERE void write_pass(char *to, const char *end) {
  for (; to < end; to += BLOCK)
    __asm__ volatile("offset = 0\n .rept %1 / 4\n sw $zero, offset(%0)\n offset = offset + 4\n .endr" ::"r"(to),
                     "i"(BLOCK)
                     : "memory");
}
static HERE void copy_pass(const char *from, const char *end, char *to) {
  for (unsigned a, b; from < end; from += BLOCK, to += BLOCK)
    __asm__ volatile("offset = 0\n .rept %4 / 8\n lw %0, offset(%2)\n lw %1, offset + 4(%2)\n sw %0, offset(%3)\n sw "
                     "%1, offset + 4(%3)\n "
                     "offset = offset + 8\n .endr"
                     : "=&r"(a), "=&r"(b)
                     : "r"(from), "r"(to), "i"(BLOCK)
                     : "memory");
}

static void bandwidth(char mode, char *array, unsigned size) {
  if (size % BLOCK) refuse("the size is a multiple of the 2048 bytes of a turn");
  unsigned passes = 1;
  while (passes * (size / 4) < LEAST) passes++;
  for (unsigned round = 0; round < 2; round++) {
    if (round) marker(1);
    for (unsigned pass = 0; pass < passes; pass++) {
      if (mode == 'r') read_pass(array, array + size);
      if (mode == 'w') write_pass(array, array + size);
      if (mode == 'c') copy_pass(array, array + size, array + size);
    }
  }
  marker(2);
}

void main(unsigned number) {
  if (number) return;
  char *array = (char *)(((uintptr_t)data_end + PLACE - 1) / PLACE * PLACE);
  const char mode = *text;
  const unsigned size = next_number();
  if (!size || size > (unsigned)(free_end - array) / (mode == 'c' ? 2 : 1))
    refuse("the array must be of some size, and fit into memory");
  if (mode == 'l') {
    latency(array, size, next_number());
  } else if (mode == 'r' || mode == 'w' || mode == 'c') {
    bandwidth(mode, array, size);
  } else {
    refuse("the text begins with latency, read, write or copy");
  }
  exit_with(0);
}
