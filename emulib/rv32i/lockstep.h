// Follows a processor by what it reports of the instructions that it completes, in program order: the interpreter does
// the same, and the first difference is told.
//
// Compared are the program counter, the instruction word, the register written and its value, address, size and data of
// stores.  What loads from outside of memory return is taken unchecked, and so is what is read in memory where nothing
// was read or written before, which is remembered; so memory need not be loaded beforehand.  Nobody but the processor
// may write there.
#ifndef EMULIB_RV32I_LOCKSTEP_H
#define EMULIB_RV32I_LOCKSTEP_H

#include <stdbool.h>
#include <stdint.h>

enum { RV32I_LOCKSTEP_TEXT = 256 }; // bytes of a report

// The state is plain data without pointers, to be copied, kept and restored as it is.
struct rv32i_lockstep {
  uint32_t r[32], pc;
  uint32_t memory; // bytes, from address 0 on
  bool started;
  uint64_t instructions, unchecked; // compared so far; loads that were taken unchecked
};

// An instruction that was completed.
struct rv32i_lockstep_retired {
  uint32_t pc, word;
  uint32_t value;      // written to the register, or stored
  uint32_t address;    // of a store
  uint8_t destination; // register written; 0 or above 31: none
  uint8_t size;        // of a store, bytes; 0: it is none
};

// Begins with whatever is completed first.  `bytes` and `known`, with a bit for each byte, belong to the caller, and
// are zero at first.
static inline void rv32i_lockstep_init(struct rv32i_lockstep *l, uint32_t memory) {
  *l = (struct rv32i_lockstep){.memory = memory};
}

// False: the processor did something else than it should have; `text` says what, in one line.
bool rv32i_lockstep_retire(struct rv32i_lockstep *l, uint8_t *bytes, uint8_t *known,
                           struct rv32i_lockstep_retired retired, char text[RV32I_LOCKSTEP_TEXT]);

#endif
