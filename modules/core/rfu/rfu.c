// rfu.c: operations of up to nine registers; see rfu.lss.
#include "core/rfu/rfu.h"

#define OPERANDS (param_length(sources))

// Which of this unit's operations a word selects.
static inline uint32_t operation_of(uint32_t word) {
  return rfu_operation(word) - (uint32_t)param(first);
}

static inline bool mine(bool present, uint32_t word, control_word control) {
  const bool own = operation_of(word) < (uint32_t)(param(operations) ? param(operations) : 32 - param(first));
  return present & rfu_requested(word) & own & !control_word_annulled(control) &
         (control_word_trap(control) == trap_cause_none);
}

static inline uint32_t cycles_of(uint32_t operation) {
  return operation < param_length(cycles) ? (uint32_t)param(cycles)[operation] : 1;
}

handler(operate) {
  const uint32_t word = data(in).word;
  if (!mine(some(in), word, data(in).control)) {
    set(waits_for_load, false);
    set(stays, false);
    send_if(out, some(in), data(in));
    return;
  }
  typeof_argument(apply, 1) operands = {0};
  const uint32_t newer = control_word_dest(data(memory).control), older = control_word_dest(data(writeback).control);
  bool loading = false;
  for (int k = 0; k < OPERANDS; k++) {
    const uint32_t source = (uint32_t)param(sources)[k];
    const bool in_memory = source == newer, in_writeback = source == older;
    loading |= in_memory & control_word_loads(data(memory).control);
    operands.v[k] = in_memory ? data(memory).value : in_writeback ? data(writeback).value : self->copy[k];
  }
  const bool busy = loading | (self->spent + 1 < cycles_of(operation_of(word)));
  typeof_port(out) item = data(in);
  if (!busy) item.result = call(apply, operation_of(word), operands);
  set(waits_for_load, loading);
  set(stays, busy);
  send_if(out, !busy, item);
}

handler(accept) {
  accept(in, !get(stays) & acked(out));
}

handler(commit) {
  enable(out, enabled(in));
}

phase_end() {
  for (int k = 0; k < OPERANDS; k++)
    if ((uint32_t)param(sources)[k] == control_word_dest(data(writeback).control) && some(writeback))
      self->copy[k] = data(writeback).value;
  if (get(waits_for_load) != self->waiting) count_cycles(waited, get(waits_for_load));
  self->waiting = get(waits_for_load);
  if (!mine(some(in), data(in).word, data(in).control)) {
    self->spent = 0; // what it was spent on was flushed
  } else if (transferred(in)) {
    self->spent = 0;
    count(operations);
    event(operated, data(in).pc, operation_of(data(in).word), data(out).result);
  } else if (get(stays) && !get(waits_for_load)) {
    self->spent++;
  }
}

statistics() {
  report(waits, counted(waited) + self->waiting * cycle());
}

next_event() {
  return self->spent ? cycle() : never();
}
