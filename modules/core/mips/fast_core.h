// fast_core.h: a processor's state as it goes from one to another, and as emulib's functional system has it; see
// fast_core.lss.
#ifndef FAST_CORE_H
#define FAST_CORE_H

#include <string.h>

#include "emulib/mips/system.h"

// The cycle in which a step begins, for emulib: some have been before.
#define FAST_CORE_BEGIN (UINT64_C(1) << 40)

_Static_assert(MIPS_CP0_REGISTERS <= sizeof((mips_state *)0)->cp0 / sizeof(uint32_t), "all registers have a place");
_Static_assert(sizeof(struct mips_tlb_entry) == sizeof(tlb_entry), "the fields of TLB entries are the same");

// A word of the state that is a whole number there; NULL: it is another one.
static inline uint32_t *fast_core_field(mips_state *state, uint32_t number) {
  if (number < MIPS_WORD_HI) return &state->r[number];
  if (number == MIPS_WORD_HI) return &state->hi;
  if (number == MIPS_WORD_LO) return &state->lo;
  if (number == MIPS_WORD_PC) return &state->pc;
  if (number < MIPS_WORD_CP0) return NULL;
  if (number < MIPS_WORD_TLB) return &state->cp0[number - MIPS_WORD_CP0];
  tlb_entry *entry = &state->tlb[(number - MIPS_WORD_TLB) / 4];
  uint32_t *const parts[] = {&entry->mask, &entry->hi, &entry->lo0, &entry->lo1};
  return parts[(number - MIPS_WORD_TLB) % 4];
}

static inline uint32_t fast_core_word(const mips_state *state, uint32_t number) {
  const uint32_t *field = fast_core_field((mips_state *)state, number);
  if (field) return *field;
  switch (number) {
  case MIPS_WORD_TIMER: return (uint32_t)state->timer;
  case MIPS_WORD_TIMER_HIGH: return (uint32_t)(state->timer >> 32);
  case MIPS_WORD_RANDOM: return state->random;
  default: return state->waiting;
  }
}

static inline void fast_core_set_word(mips_state *state, uint32_t number, uint32_t value) {
  uint32_t *field = fast_core_field(state, number);
  if (field) {
    *field = value;
    return;
  }
  switch (number) {
  case MIPS_WORD_TIMER: state->timer = (state->timer & ~UINT64_C(0xffffffff)) | value; break;
  case MIPS_WORD_TIMER_HIGH: state->timer = (uint64_t)value << 32 | (uint32_t)state->timer; break;
  case MIPS_WORD_RANDOM: state->random = (uint16_t)value; break;
  default: state->waiting = value != 0; break;
  }
}

// Increments of Count until it is Compare.
static inline uint64_t fast_core_counts(uint64_t timer, uint32_t divider) {
  return (timer + divider - 1) / divider;
}

static inline void fast_core_unpack(struct mips_architecture *cpu, const mips_state *state, uint64_t timer,
                                    uint32_t divider) {
  memset(cpu, 0, sizeof *cpu);
  memcpy(cpu->r, state->r, sizeof cpu->r);
  memcpy(cpu->cp0, state->cp0, MIPS_CP0_REGISTERS * sizeof *cpu->cp0);
  memcpy(cpu->tlb, state->tlb, sizeof cpu->tlb);
  cpu->hi = state->hi;
  cpu->lo = state->lo;
  cpu->pc = state->pc;
  cpu->waiting = state->waiting;
  cpu->random = state->random;
  cpu->cycle = cpu->count_cycle = FAST_CORE_BEGIN;
  cpu->timer_cycle = UINT64_MAX;
  if (state->cp0[MIPS_CP0_Cause] & MIPS_CAUSE_DC) return;
  const uint64_t counts = fast_core_counts(timer, divider);
  cpu->timer_cycle = FAST_CORE_BEGIN + timer;
  cpu->count_cycle = cpu->timer_cycle - counts * divider;
  cpu->cp0[MIPS_CP0_Count] = state->cp0[MIPS_CP0_Compare] - (uint32_t)counts;
}

// Without what follows from the timer.
static inline void fast_core_pack(mips_state *state, const struct mips_architecture *cpu) {
  memcpy(state->r, cpu->r, sizeof cpu->r);
  memcpy(state->cp0, cpu->cp0, MIPS_CP0_REGISTERS * sizeof *cpu->cp0);
  memcpy(state->tlb, cpu->tlb, sizeof cpu->tlb);
  state->hi = cpu->hi;
  state->lo = cpu->lo;
  state->pc = cpu->pc;
  state->waiting = cpu->waiting;
  state->random = cpu->random;
  if (!(cpu->cp0[MIPS_CP0_Cause] & MIPS_CAUSE_DC)) state->cp0[MIPS_CP0_Count] = 0;
}

#endif
