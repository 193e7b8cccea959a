// The chain of small handshake modules in SystemC, one SC_MODULE per stage: the same modules, pattern and checksum as
// the LSS ones beside it.  Usage: chain_systemc ripple|registered CYCLES
#include <systemc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

extern "C" {
#include "chain_source.h"
}

struct Source : sc_module {
  sc_in<bool> clk, ready;
  sc_out<bool> valid;
  sc_out<uint32_t> data;
  uint32_t noise = 0x2545f491, next = 0;
  void tick() {
    if (valid.read() && ready.read()) next++;
    noise = chain_noise(noise);
    drive();
  }
  void drive() {
    valid.write(chain_offers(noise));
    data.write(next);
  }
  SC_HAS_PROCESS(Source);
  explicit Source(sc_module_name name) : sc_module(name) {
    SC_METHOD(tick);
    sensitive << clk.pos();
    dont_initialize();
  }
  void end_of_elaboration() override {
    valid.initialize(chain_offers(noise));
    data.initialize(next);
  }
};

struct Sink : sc_module {
  sc_in<bool> clk, valid;
  sc_in<uint32_t> data;
  sc_out<bool> ready;
  uint32_t noise = 0x9e3779b9, checksum = 0;
  uint64_t items = 0;
  void tick() {
    if (valid.read() && ready.read()) {
      items++;
      checksum = checksum * 31 + data.read();
    }
    noise = chain_noise(noise);
    ready.write(chain_offers(noise));
  }
  SC_HAS_PROCESS(Sink);
  explicit Sink(sc_module_name name) : sc_module(name) {
    SC_METHOD(tick);
    sensitive << clk.pos();
    dont_initialize();
  }
  void end_of_elaboration() override { ready.initialize(chain_offers(noise)); }
};

struct Stage : sc_module {
  sc_in<bool> clk, in_valid, out_ready;
  sc_in<uint32_t> in_data;
  sc_out<bool> in_ready, out_valid;
  sc_out<uint32_t> out_data;
  explicit Stage(sc_module_name name) : sc_module(name) {}
};

// Combinational readiness: full register, ready when empty or emptied in this cycle.
struct Ripple : Stage {
  void tick() {
    if (in_valid.read() && in_ready.read()) {
      out_data.write(in_data.read() + 1);
      out_valid.write(true);
    } else if (out_ready.read()) {
      out_valid.write(false);
    }
  }
  void readiness() { in_ready.write(!out_valid.read() || out_ready.read()); }
  SC_HAS_PROCESS(Ripple);
  explicit Ripple(sc_module_name name) : Stage(name) {
    SC_METHOD(tick);
    sensitive << clk.pos();
    dont_initialize();
    SC_METHOD(readiness);
    sensitive << out_valid << out_ready;
  }
};

// Registered in both directions: two slots.
struct Register : Stage {
  uint32_t head = 0, tail = 0;
  unsigned count = 0;
  void tick() {
    if (out_valid.read() && out_ready.read()) {
      head = tail;
      count--;
    }
    if (in_valid.read() && in_ready.read()) {
      (count ? tail : head) = in_data.read() + 1;
      count++;
    }
    out_valid.write(count != 0);
    out_data.write(head);
    in_ready.write(count < 2);
  }
  SC_HAS_PROCESS(Register);
  explicit Register(sc_module_name name) : Stage(name) {
    SC_METHOD(tick);
    sensitive << clk.pos();
    dont_initialize();
  }
  void end_of_elaboration() override { in_ready.initialize(true); }
};

int sc_main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s ripple|registered CYCLES\n", argv[0]), 2;
  const bool ripple = !std::strcmp(argv[1], "ripple");
  const unsigned long long cycles = std::strtoull(argv[2], nullptr, 0);
  constexpr int stages = 100;
  sc_signal<bool> clk;
  std::vector<std::unique_ptr<sc_signal<bool>>> valid, ready;
  std::vector<std::unique_ptr<sc_signal<uint32_t>>> data;
  for (int i = 0; i <= stages; i++) {
    valid.push_back(std::make_unique<sc_signal<bool>>());
    ready.push_back(std::make_unique<sc_signal<bool>>());
    data.push_back(std::make_unique<sc_signal<uint32_t>>());
  }
  Source head("head");
  head.clk(clk), head.valid(*valid[0]), head.data(*data[0]), head.ready(*ready[0]);
  std::vector<std::unique_ptr<Stage>> stage;
  for (int i = 0; i < stages; i++) {
    std::string name = "stage" + std::to_string(i);
    if (ripple) stage.push_back(std::make_unique<Ripple>(name.c_str()));
    else stage.push_back(std::make_unique<Register>(name.c_str()));
    Stage &s = *stage.back();
    s.clk(clk), s.in_valid(*valid[i]), s.in_data(*data[i]), s.in_ready(*ready[i]);
    s.out_valid(*valid[i + 1]), s.out_data(*data[i + 1]), s.out_ready(*ready[i + 1]);
  }
  Sink tail("tail");
  tail.clk(clk), tail.valid(*valid[stages]), tail.data(*data[stages]), tail.ready(*ready[stages]);
  clk.write(false);
  sc_start(SC_ZERO_TIME);
  for (unsigned long long i = 0; i < cycles; i++) {
    clk.write(true);
    sc_start(1, SC_NS);
    clk.write(false);
    sc_start(1, SC_NS);
  }
  std::printf("{\"items\": %llu, \"checksum\": %u}\n", (unsigned long long)tail.items, tail.checksum);
  return 0;
}
