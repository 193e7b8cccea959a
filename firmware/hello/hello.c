// A first program for one core: prints the primes below 50.
#include "console.h"

int main(void) {
  print("hello from a MIPS core; primes:");
  for (unsigned n = 2; n < 50; n++) {
    unsigned divisor = 2;
    while (divisor * divisor <= n && n % divisor) divisor++;
    if (divisor * divisor <= n) continue;
    print(" ");
    print_number(n);
  }
  print("\n");
  return 0;
}
