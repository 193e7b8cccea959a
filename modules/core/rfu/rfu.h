// rfu.h: the instruction of the reconfigurable functional unit.  It is MIPS's mfc2 rt, n: the result of operation n, as
// if it were a register of coprocessor 2, so every assembler knows it; see rfu.lss.
#ifndef RFU_H
#define RFU_H

#include "core/core_control.h"
#include "mips/isa.h"

#define RFU_MATCH 0x48000000u
#define RFU_MASK  0xffe007ffu

// Whether the word is the unit's, and which operation it selects.
static inline bool rfu_requested(uint32_t word) {
  return (word & RFU_MASK) == RFU_MATCH;
}
static inline uint32_t rfu_operation(uint32_t word) {
  return mips_rd(word);
}

// What the pipeline does with it: a result for rt, and no operands of its own.
static inline control_word rfu_control(uint32_t word) {
  const control_word none = control_word_of_rs(CORE_NO_SOURCE) | control_word_of_rt(CORE_NO_SOURCE);
  return none | control_word_of_dest(mips_rt(word) ? mips_rt(word) : CORE_NO_DEST);
}

#endif
