// Executes instructions of a processor whose state is plain data: for an owner who keeps the state of the processor and
// its memory without pointers, so that both can be copied, stored and restored as they are.
//
// A quantum goes on from `cpu`, for so many cycles or until something comes that the owner has to see to.  Memory is
// read and written directly; all other references are the owner's.  One that is met ends the quantum before its
// instruction, and `request` says what it wants; the owner carries it out, gives the reply, and the next quantum
// executes that instruction.  One instruction has two such requests at most: its word, and what it loads or stores.
#ifndef EMULIB_MIPS_QUANTUM_H
#define EMULIB_MIPS_QUANTUM_H

#include "system.h"

// What an instruction wants of a device: 1 to 4 bytes at a physical address, right-justified.
struct mips_quantum_request {
  bool present;
  enum mips_access access;
  uint32_t address, value; // value: what is stored
  uint8_t size;
};

// What the device replied.
struct mips_quantum_reply {
  bool present;
  bool error; // nothing responds there
  uint32_t value;
};

enum { MIPS_QUANTUM_MODES = 64 };

struct mips_quantum {
  const struct mips_system_options *options;
  struct mips_architecture *cpu;
  uint8_t *memory; // from physical address 0 on, bytes in the guest's order,
  uint32_t size;   // whole pages

  // What the devices replied to the instruction at cpu->pc; gone when it has been executed.
  struct mips_quantum_reply fetched, referred;

  // When it ends at the latest; behind a marker, and behind as many changes of mode as are kept, it always does.
  uint64_t until; // cycle
  bool to_pc;     // before the instruction at `pc`
  uint32_t pc;

  // What came of it.
  struct mips_quantum_request request;
  uint32_t marker; // that was passed last; 0: none
  unsigned modes;  // changes between kernel and user mode
  struct mips_quantum_mode {
    uint64_t cycle; // what cpu->cycle was then: instructions after it are in that mode
    bool user;
  } mode[MIPS_QUANTUM_MODES];
  struct mips_statistics statistics;
};

// The state after reset.
void mips_quantum_reset(const struct mips_system_options *options, struct mips_architecture *cpu);
enum mips_pause mips_quantum_run(struct mips_quantum *q);

#endif
