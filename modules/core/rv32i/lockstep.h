// lockstep.h: what RV32I cores report to emulib's interpreter, which does the same beside them and tells the first
// difference: the code of their collectors `lockstep`.
#ifndef LOCKSTEP_RV32I_H
#define LOCKSTEP_RV32I_H

#include "emulib/rv32i/lockstep.h"

// Follows a context from its start, when it has its number in a0.
static inline void lockstep_begin(struct rv32i_lockstep *l, uint32_t memory, uint32_t context) {
  rv32i_lockstep_init(l, memory);
  l->r[10] = context;
}

// An instruction that active_list commits.
static inline bool lockstep_commit(struct rv32i_lockstep *l, uint8_t *bytes, uint8_t *known, uint32_t pc, uint32_t word,
                                   uint32_t value, uint8_t destination, uint32_t address, uint8_t size,
                                   char text[RV32I_LOCKSTEP_TEXT]) {
  return rv32i_lockstep_retire(
      l, bytes, known,
      (struct rv32i_lockstep_retired){
          .pc = pc, .word = word, .value = value, .address = address, .destination = destination, .size = size},
      text);
}

#endif
