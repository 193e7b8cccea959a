// Internet checksums (RFC 1071) of frames, by instructions that every processor has and by the reconfigurable
// functional unit; prints what each took, and fails if the two disagree.
#include "console.h"
#include "unit.h"

enum { LARGEST = 1472 };

static unsigned frame[LARGEST / 4];

static unsigned now(void) {
  return *(volatile unsigned *)MAP_CLOCK_BASE;
}

static unsigned fold(unsigned sum) {
  sum = (sum >> 16) + (sum & 0xffff);
  return ~((sum >> 16) + sum) & 0xffff;
}

// Eight words at a time, as the other does.
__attribute__((noinline)) static unsigned with_instructions(const unsigned *words, unsigned count) {
  unsigned sum = 0;
  for (; count >= 8; count -= 8, words += 8)
#pragma clang loop unroll(full)
    for (int k = 0; k < 8; k++) {
      sum += words[k];
      sum += sum < words[k];
    }
  return fold(sum);
}

__attribute__((noinline)) static unsigned with_unit(const unsigned *words, unsigned count) {
  unsigned sum = 0;
  for (; count >= 8; count -= 8, words += 8) sum = unit_sum(words, sum);
  return unit_fold(sum);
}

int main(void) {
  static const unsigned sizes[] = {64, 256, 576, LARGEST};
  unsigned random = 1, wrong = 0;
  for (unsigned n = 0; n < LARGEST / 4; n++) {
    random = random * 1664525 + 1013904223;
    frame[n] = random;
  }
  for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++) {
    const unsigned start = now(), plain = with_instructions(frame, sizes[n] / 4);
    const unsigned middle = now(), quick = with_unit(frame, sizes[n] / 4), end = now();
    print_number(sizes[n]);
    print(" bytes: checksum ");
    print_number(plain);
    print(", cycles without the unit ");
    print_number(middle - start);
    print(", with it ");
    print_number(end - middle);
    print(plain == quick ? "\n" : " wrong\n");
    wrong |= plain != quick;
  }
  return (int)wrong;
}
