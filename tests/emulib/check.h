// CHECK ends a test at the first condition that does not hold, with its line, and with CHECK_SAID, a text, if whoever
// includes this defines it.
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CHECK_SAID
#define CHECK_SAID ""
#endif

#define CHECK(condition) check_holds(condition, __LINE__, #condition, CHECK_SAID)

static inline void check_holds(bool holds, int line, const char *condition, const char *said) {
  if (holds) return;
  fprintf(stderr, *said ? "line %d: %s (%s)\n" : "line %d: %s\n", line, condition, said);
  exit(1);
}

#endif
