// A digital filter of 16 taps over 256 samples, once with one instruction to a bundle and once with two; prints what
// each took, and fails if they disagree with each other or with what is known.
#include "console.h"

enum { TAPS = 16, SAMPLES = 256 };

void filter_narrow(const int *c, const int *x, int *y);
void filter_wide(const int *c, const int *x, int *y);

static int taps[TAPS], input[SAMPLES + TAPS], narrow[SAMPLES], wide[SAMPLES];

static unsigned now(void) {
  return *(volatile unsigned *)MAP_CLOCK_BASE;
}

// The bundler leaves functions called ..._narrow as they are.
static inline __attribute__((always_inline)) void filter(const int *c, const int *x, int *y) {
  for (int n = 0; n < SAMPLES; n++) {
    int even = 0, odd = 0; // two sums, so that additions do not wait for one another
#pragma clang loop unroll(full)
    for (int k = 0; k < TAPS; k += 2) {
      even += c[k] * x[n + k];
      odd += c[k + 1] * x[n + k + 1];
    }
    y[n] = (even + odd) >> 8;
  }
}

__attribute__((noinline)) void filter_narrow(const int *c, const int *x, int *y) {
  filter(c, x, y);
}

__attribute__((noinline)) void filter_wide(const int *c, const int *x, int *y) {
  filter(c, x, y);
}

int main(void) {
  unsigned random = 1, check = 0, wrong = 0;
  for (int n = 0; n < SAMPLES + TAPS; n++) {
    random = random * 1664525 + 1013904223;
    input[n] = (int)random >> 16;
  }
  for (int k = 0; k < TAPS; k++) taps[k] = (k + 1) * (TAPS - k);
  const unsigned start = now();
  filter_narrow(taps, input, narrow);
  const unsigned middle = now();
  filter_wide(taps, input, wide);
  const unsigned end = now();
  for (int n = 0; n < SAMPLES; n++) {
    wrong |= narrow[n] != wide[n];
    check = check * 31 + (unsigned)wide[n];
  }
  print("filtered ");
  print_number(SAMPLES);
  print(" samples: check ");
  print_number(check);
  print(", cycles with one instruction at a time ");
  print_number(middle - start);
  print(", in bundles of two ");
  print_number(end - middle);
  print(wrong ? " wrong\n" : "\n");
  return (int)wrong;
}
