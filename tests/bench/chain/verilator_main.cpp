// Clocks the Verilog chain for a number of cycles and prints how many items arrived and their checksum.
#include "Vchain.h"
#include "verilated.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CYCLES\n", argv[0]), 2;
  unsigned long long cycles = std::strtoull(argv[1], nullptr, 0);
  VerilatedContext context;
  Vchain chain(&context);
  chain.clk = 0;
  chain.eval();
  for (unsigned long long i = 0; i < cycles; i++) {
    chain.clk = 1;
    chain.eval();
    chain.clk = 0;
    chain.eval();
  }
  std::printf("{\"items\": %llu, \"checksum\": %u}\n", (unsigned long long)chain.items, (unsigned)chain.checksum);
  chain.final();
}
