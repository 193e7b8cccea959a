// A functional RV32I interpreter: the oracle against which machines are tested, and the engine of rv32i-oracle.  It
// knows no time, no pipeline and no memory of its own; it is never part of a machine.
//
// State is architectural: registers and pc.  An instruction that raises an exception changes nothing, so pc is its
// address.
#ifndef EMULIB_RV32I_INTERPRETER_H
#define EMULIB_RV32I_INTERPRETER_H

#include "guest_memory.h"
#include "isa.h"

enum rv32i_stop {
  RV32I_RUNNING, // the instruction completed
  RV32I_STOP_BREAKPOINT,
  RV32I_STOP_SYSCALL,
  RV32I_STOP_RESERVED,   // no instruction
  RV32I_STOP_MISALIGNED, // address not a multiple of the size; see fault_address
  RV32I_STOP_MEMORY,     // nothing at that address; see fault_address
};

struct rv32i_interpreter {
  uint32_t r[32];
  uint32_t pc;
  struct guest_memory memory; // little-endian
  uint32_t fault_address;     // of the last MISALIGNED or MEMORY stop
  enum rv32i_stop stop;       // outcome of the last step
  uint32_t word;              // last instruction fetched
  uint64_t retired;           // instructions completed
};

// Registers 0, pc at start.
void rv32i_interpreter_init(struct rv32i_interpreter *m, struct guest_memory memory, uint32_t start);

// Executes one instruction.
enum rv32i_stop rv32i_interpreter_step(struct rv32i_interpreter *m);

// After a BREAKPOINT or SYSCALL that the environment has served: continues behind the instruction, which counts.
void rv32i_interpreter_resume(struct rv32i_interpreter *m);

// "reserved instruction", ... for messages.
const char *rv32i_stop_text(enum rv32i_stop stop);

#endif
