/* serial_execute.c: has the oldest instruction of an out-of-order core executed alone; see serial_execute.lss. */
#include "core/core_control.h"
#include "core/ooo/register_sets.h"

phase_start() {
  send_if(out, self->offers, self->item);
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

handler(read) {
  typeof_port(registers_numbers) numbers = {0};
  for (int k = 0; k < 2; k++) numbers.of[k] = data(in).source[k];
  send_if(registers_numbers, data(in).valid, numbers);
}

/* What a pipeline makes of it: of an instruction that failed only why, of an interrupt nothing. */
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

/* The immediate is the mem_fault of what could not be fetched, which reads no register. */
static void begin(self_t *self, const serial_request *from, uint32_t a, uint32_t b) {
  self->offers = true;
  self->interrupted = from->cause == trap_cause_none;
  self->dest = from->dest;
  self->age = from->age;
  self->item = (core_executed){
      .pc = from->pc, .word = from->word, .control = control_of(self, from), .result = a + from->immediate, .b = b};
}

static inline bool writes_memory(control_word c) {
  return control_word_mem(c) == memory_access_store || control_word_mem(c) == memory_access_conditional;
}

/* It left, to be committed unless nothing came out of it. */
static void leave(self_t *self, bool came_out, uint32_t value) {
  self->offers = false;
  const bool commits = came_out && !self->interrupted;
  self->ordered = (serial_order){.valid = true, .commits = commits, .next = true};
  if (!commits) return;
  self->ordered.drops = writes_memory(self->item.control);
  self->completed = (completion){
      .status = completion_status_of_valid(true), .age = self->age, .target = self->item.result, .value = value};
  count(executed);
  if (self->dest == 0) return;
  self->shown = (result){.dest = self->dest, .value = value};
  register_add(self->awake.of, self->dest);
}

/* Fetch goes on elsewhere; or a wait is over, behind which it was held. */
static void follow_restart(self_t *self, const core_restart *restart) {
  self->ordered.valid = self->ordered.drops = true;
  self->ordered.next = restart->refetch | restart->hold;
  self->ordered.hold = restart->hold;
  self->ordered.pc = restart->pc;
}

phase_end() {
  const bool ordered = self->ordered.valid;
  self->moved = ordered | self->offers | data(in).valid | some(restart);
  if (!self->moved) return;
  self->ordered = (serial_order){.valid = false};
  self->completed.status = 0;
  self->shown.dest = 0;
  memset(&self->awake, 0, sizeof self->awake);
  if (transferred(out))
    leave(self, some(finished), data(finished).value);
  else if (!self->offers && !ordered && data(in).valid && data(drained))
    begin(self, &data(in), data(registers_values).of[0], data(registers_values).of[1]);
  if (some(restart)) follow_restart(self, &data(restart));
  count(dropped, self->ordered.valid && self->ordered.drops);
}

next_event() {
  return self->moved ? cycle() : never();
}
