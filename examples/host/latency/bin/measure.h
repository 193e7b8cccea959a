// What the programs of this guest share: errors, numbers of the command line, and the guest's own clock.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "marker.h"

// Ends the program if a system call failed.
static inline void need(long done, const char *what) {
  if (done < 0) {
    perror(what);
    exit(2);
  }
}

// The number that a word of the command line is.
static inline uint64_t number(const char *text, const char *name, unsigned least) {
  char *end = NULL;
  const long long value = strtoll(text, &end, 0);
  if (end == text || *end || value < least) {
    fprintf(stderr, "%s = %s must be a number, at least %u\n", name, text, least);
    exit(2);
  }
  return (uint64_t)value;
}

// Nanoseconds of the guest's clock.
static inline uint64_t now(void) {
  struct timespec time;
  need(clock_gettime(CLOCK_MONOTONIC, &time), "clock_gettime");
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// Prints a time for each of so many calls, and sets marker 5 when the text has left the console.  There is no
// floating-point unit.
static inline void print_each(uint64_t nanoseconds, unsigned calls) {
  const unsigned long long each = nanoseconds / calls;
  printf("%llu.%03llu microseconds\n", each / 1000, each % 1000);
  fflush(stdout);
  tcdrain(STDOUT_FILENO);
  marker(5);
}
