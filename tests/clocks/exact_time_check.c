// Calls clock/exact_time.h: a line of standard input is a function and numbers, its reply is a line of numbers.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  uint64_t ticks;
  uint64_t thousandths;
} exact_time;

#include "clock/exact_time.h"

static void put(exact_time time) {
  printf("%" PRIu64 " %" PRIu64 "\n", time.ticks, time.thousandths);
}

int main(void) {
  char name[32];
  uint64_t n[4];
  while (scanf("%31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name, &n[0], &n[1], &n[2], &n[3]) == 5) {
    const exact_time a = {n[0], n[1]}, b = {n[2], n[3]};
    if (!strcmp(name, "add")) put(exact_time_add(a, n[2], n[3]));
    if (!strcmp(name, "step")) put(exact_time_step(a, n[2]));
    if (!strcmp(name, "sum")) put(exact_time_sum(a, b));
    if (!strcmp(name, "later")) put(exact_time_later(a, b));
    if (!strcmp(name, "since")) put(exact_time_since(a, b));
    if (!strcmp(name, "of")) put(exact_time_of(n[0], n[1], n[2]));
    if (!strcmp(name, "before")) printf("%d\n", exact_time_before(a, b));
    if (!strcmp(name, "instant")) printf("%" PRIu64 "\n", exact_time_instant(a));
    if (!strcmp(name, "after")) printf("%" PRIu64 "\n", exact_time_instant_after(a));
    if (!strcmp(name, "nanoseconds")) printf("%" PRIu64 "\n", exact_time_nanoseconds(a, n[2]));
  }
  return 0;
}
