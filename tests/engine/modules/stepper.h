// stepper.h: the memory of an interpreter that executes a few words; see stepper.c.
#ifndef STEPPER_H
#define STEPPER_H

#include "emulib/mips/interpreter.h"

typedef struct {
  uint32_t words[16];
  uint32_t count;
} stepper_program;

static inline bool stepper_read(void *user, uint32_t address, unsigned size, uint32_t *value) {
  const stepper_program *program = user;
  if (size != 4 || address / 4 >= program->count) return false;
  *value = program->words[address / 4];
  return true;
}

static inline bool stepper_write(void *user, uint32_t address, unsigned size, uint32_t value) {
  (void)user, (void)address, (void)size, (void)value;
  return false;
}

#endif
