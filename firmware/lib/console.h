// The console of small machines (modules/io/console.lss), at the region `console` of their memory map.
#ifndef LIB_CONSOLE_H
#define LIB_CONSOLE_H

#include "registers.h"

static inline void print_char(char c) {
  *(volatile unsigned char *)MAP_CONSOLE_BASE = (unsigned char)c;
}

static inline void print(const char *text) {
  while (*text) print_char(*text++);
}

// A number in decimal.
static inline void print_number(unsigned number) {
  char digits[10];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  while (count) print_char(digits[--count]);
}

// Ends the run of the simulator; does not come back.
static inline void exit_with(unsigned status) {
  *(volatile unsigned *)(MAP_CONSOLE_BASE + 4) = status;
  for (;;);
}

#endif
