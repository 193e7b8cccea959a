// A functional MIPS interpreter: the oracle against which machines are tested, and the engine of mips-oracle.  It knows
// no time, no pipeline and no memory of its own; no machine computes with it.  A module may include this header and
// step it to check what a core retires: simulators are linked with emulib.
//
// State is architectural: registers, HI, LO, and the pair (pc, next_pc), which makes delay slots exact without a
// special case: a branch changes next_pc only.  An instruction that raises an exception changes nothing, so pc is
// its address and in_delay_slot says whether it is in a delay slot.
#ifndef EMULIB_MIPS_INTERPRETER_H
#define EMULIB_MIPS_INTERPRETER_H

#include "guest_memory.h"
#include "isa.h"

enum mips_stop {
  MIPS_RUNNING,       // the instruction completed
  MIPS_STOP_OVERFLOW, // add, addi, sub overflowed
  MIPS_STOP_TRAP,     // a trap instruction's condition held
  MIPS_STOP_BREAKPOINT,
  MIPS_STOP_SYSCALL,
  MIPS_STOP_RESERVED,   // no instruction of this set, or one for operating systems
  MIPS_STOP_MISALIGNED, // address not a multiple of the size; see fault_address
  MIPS_STOP_MEMORY,     // nothing at that address; see fault_address
};

struct mips_interpreter {
  uint32_t r[32], hi, lo;
  uint32_t pc, next_pc;
  bool in_delay_slot; // pc is the delay slot of the branch before it
  bool big_endian;
  enum mips_set set;
  struct guest_memory memory;
  bool linked; // ll was executed and nothing broke the link since
  uint32_t link_address;
  uint32_t fault_address; // of the last MISALIGNED or MEMORY stop
  enum mips_stop stop;    // outcome of the last step
  uint32_t word;          // last instruction fetched
  bool annulled;          // the last step annulled the delay slot of a branch-likely
  uint64_t retired;       // instructions completed; annulled delay slots do not count
};

// Registers 0, pc at start.
void mips_interpreter_init(struct mips_interpreter *m, enum mips_set set, bool big_endian, struct guest_memory memory,
                           uint32_t start);

// Executes one instruction.
enum mips_stop mips_interpreter_step(struct mips_interpreter *m);

// After a BREAKPOINT or SYSCALL that the environment has served: continues behind the instruction, which counts.
void mips_interpreter_resume(struct mips_interpreter *m);

// "arithmetic overflow", ... for messages.
const char *mips_stop_text(enum mips_stop stop);

#endif
