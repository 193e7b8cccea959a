// core_control.h: control words with a meaning of their own; the control word itself is in core_types.lss.
#ifndef CORE_CONTROL_H
#define CORE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/trap_text.h"

// Numbers that no register of the file has, different ones, so that what is read is never what is written.
enum { CORE_NO_SOURCE = 33, CORE_NO_DEST = 32 };

// Whether an instruction has the multiply/divide unit work on HI and LO, which takes time.
static inline bool core_occupies(control_word c) {
  return control_word_muldiv(c) >= muldiv_op_mult;
}

// Whether it changes HI or LO when it leaves execute, so that nothing may take its place afterwards.
static inline bool core_changes_hilo(control_word c) {
  return control_word_muldiv(c) >= muldiv_op_mthi && control_word_muldiv(c) != muldiv_op_mul;
}

// Where the size is in the immediate of an instruction on a field of bits, above the position.
enum { CORE_FIELD_SIZE = 8 };

// An instruction that reads and writes nothing.
#define CORE_CONTROL_IDLE                                                                                              \
  (control_word_of_rs(CORE_NO_SOURCE) | control_word_of_rt(CORE_NO_SOURCE) | control_word_of_dest(CORE_NO_DEST))

// The control word of an instruction that failed: it writes nothing and says why when it arrives at the end.
static inline control_word core_failed(trap_cause trap) {
  return CORE_CONTROL_IDLE | control_word_of_trap(trap);
}

#endif
