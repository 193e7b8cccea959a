// What the userpoints of a register bank may use; see register_bank.lss.
#ifndef REGISTER_BANK_H
#define REGISTER_BANK_H

#include <stdint.h>

// The stored value of the register at `offset`, inside read_value and write_value.
#define reg(offset) (((const uint32_t *)(uintptr_t)file)[(offset) / 4])

// What side_effect returns to store `value` in the register at `offset`.
#define set_reg(at, stored)                                                                                            \
  (register_effect_of_some(true) | register_effect_of_offset(at) | register_effect_of_value(stored))

#endif
