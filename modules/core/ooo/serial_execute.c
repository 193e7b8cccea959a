// serial_execute.c: has the oldest instruction of an out-of-order core executed alone; see serial_execute.lss.
#include "core/core_control.h"
#include "core/ooo/places.h"
#include "core/ooo/register_sets.h"

#define NOBODY (uint32_t)param(contexts)

phase_start() {
  for (int c = 0; c < param(contexts); c++) send_if(out, c, self->offers >> c & 1, self->item[c]);
}

handler(show_result, i) {
  send(results, i, self->shown);
}

handler(show_wakes, i) {
  send(wakes, i, self->awake);
}

handler(show_done, i) {
  send(done, i, self->completed);
}

handler(show_order, i) {
  send(order, i, self->ordered);
}

// The first in turn of those of a set behind one; there is one at least.
static inline uint32_t first_behind(uint32_t set, uint32_t last) {
  return param(contexts) > 1 ? context_in_turn(set, last) : 0;
}

// What a pipeline makes of it: of an instruction that failed only why, of an interrupt nothing.
static inline control_word control_of(const self_t *self, const serial_request *from) {
  const control_word slot = control_word_of_slot(from->slot);
  switch (from->cause) {
  case trap_cause_none: return CORE_CONTROL_IDLE | slot;
  case trap_cause_fetch:
  case trap_cause_overflowed:
  case trap_cause_taken: return core_failed(from->cause) | slot;
  default: return call(pipeline_control, from->word) | slot;
  }
}

static inline bool refers(control_word c) {
  return control_word_mem(c) != memory_access_none;
}

// Whether an instruction waits for the committed stores: it refers to memory, or other processors or caches may observe
// the order.  Exceptions, interrupts and registers of the system do not depend on memory.
static inline bool waits_for_stores(control_word c) {
  return refers(c) || (control_word_serializes(c) && !control_word_keeps(c));
}

// An instruction begins if the list knows the outcome of the one before it.
handler(read) {
  uint32_t ready_contexts = 0;
  for (int c = 0; c < param(contexts); c++)
    if (data(in, c).valid)
      ready_contexts |= (uint32_t)(data(drained, c) || !waits_for_stores(control_of(self, &data(in, c)))) << c;
  ready_contexts &= ~(self->offers | self->pending | (uint32_t)self->ordered.valid << self->ordered.context);
  const uint32_t next = ready_contexts ? first_behind(ready_contexts, self->begun) : NOBODY;
  typeof_port(registers_numbers) numbers = {0};
  for (int k = 0; k < 2; k++) numbers.of[k] = data(in, next < NOBODY ? (int)next : 0).source[k];
  set(next, next);
  send_if(registers_numbers, ready_contexts != 0, numbers);
}

// The immediate is the mem_fault of what could not be fetched, which reads no register.
static __attribute__((noinline)) void begin(self_t *self, uint32_t context, const serial_request *from, uint32_t a,
                                            uint32_t b) {
  const uint32_t bit = UINT32_C(1) << context;
  self->begun = context;
  self->offers |= bit;
  self->interrupted = (self->interrupted & ~bit) | (from->cause == trap_cause_none ? bit : 0);
  self->dest[context] = from->dest;
  self->age[context] = from->age;
  self->item[context] = (core_executed){
      .pc = from->pc, .word = from->word, .control = control_of(self, from), .result = a + from->immediate, .b = b};
}

// It left, to be committed unless nothing came out of it.
static __attribute__((noinline)) void leave(self_t *self, uint32_t context, bool came_out, uint32_t value) {
  const uint32_t bit = UINT32_C(1) << context;
  const core_executed *item = &self->item[context];
  const bool commits = came_out && !(self->interrupted & bit);
  self->offers &= ~bit;
  self->pending |= bit;
  self->following[context] =
      (serial_order){.valid = true, .context = (uint8_t)context, .commits = commits, .next = true};
  self->finished[context].status = 0;
  self->become[context].dest = 0;
  if (!commits) return;
  self->following[context].drops = control_word_mem(item->control) == memory_access_store;
  self->following[context].single = control_word_serializes(item->control);
  self->finished[context] = (completion){
      .status = completion_status_of_valid(true), .age = self->age[context], .target = item->result, .value = value};
  self->become[context] = (result){.dest = self->dest[context], .value = value};
  count(executed);
}

// Fetch goes on elsewhere; or a wait is over, behind which it was held, maybe before the list was notified of that.
static __attribute__((noinline)) void follow_restart(self_t *self, uint32_t context, const core_restart *restart) {
  serial_order *order = &self->following[context];
  if (!(self->pending >> context & 1)) {
    event(restarted);
    *order = (serial_order){.valid = true, .context = (uint8_t)context};
    self->finished[context].status = 0;
    self->become[context].dest = 0;
  }
  self->pending |= UINT32_C(1) << context;
  order->drops = true;
  order->next = restart->refetch | restart->hold;
  order->hold = restart->hold;
  order->pc = restart->pc;
}

// The list is notified of what has become of one context, in turn.
static __attribute__((noinline)) void notify(self_t *self) {
  const uint32_t context = first_behind(self->pending, self->notified);
  self->notified = context;
  self->pending &= ~(UINT32_C(1) << context);
  self->ordered = self->following[context];
  self->completed = self->finished[context];
  self->shown = self->become[context];
  if (self->shown.dest) register_add(self->awake.of, self->shown.dest);
  count(dropped, self->ordered.drops);
}

phase_end() {
  uint32_t requested = 0, restarted = 0;
  for (int c = 0; c < param(contexts); c++) {
    requested |= (uint32_t)data(in, c).valid << c;
    restarted |= (uint32_t)some(restart, c) << c;
  }
  self->moved = self->ordered.valid | ((self->offers | self->pending | requested | restarted) != 0);
  if (!self->moved) return;
  self->ordered = (serial_order){.valid = false};
  self->completed.status = 0;
  self->shown.dest = 0;
  memset(&self->awake, 0, sizeof self->awake);
  for (int c = 0; c < param(contexts); c++)
    if (transferred(out, c)) leave(self, (uint32_t)c, some(finished, c), data(finished, c).value);
  if (get(next) != NOBODY) {
    const int c = param(contexts) > 1 ? (int)get(next) : 0;
    begin(self, (uint32_t)c, &data(in, c), data(registers_values).of[0], data(registers_values).of[1]);
  }
  for (int c = 0; c < param(contexts); c++)
    if (restarted >> c & 1) follow_restart(self, (uint32_t)c, &data(restart, c));
  if (self->pending) notify(self);
}

next_event() {
  return self->moved ? cycle() : never();
}
