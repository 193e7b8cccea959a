// rule30.c: an accelerator for cellular automata; see rule30.lss.
#include "clock/device_time.h"
#include "memory/memory_access.h"

#include <string.h>

#define REGISTER(name) (self->word[param(name##_at) / 4])
#define BIT(name)      ((uint32_t)param(name))
#define CELLS          ((uint32_t)param(line_bytes) * 8)
#define FEMTOSECONDS   UINT64_C(1000000000000000) // in a second: the unit of parameters that are times

// ---- Computation ----
// A debugger may set the register to any number.
static uint32_t line_length(uint32_t value) {
  return value < 1 ? 1 : value > CELLS ? CELLS : value;
}

static uint32_t input_cell(const self_t *self, uint32_t k) {
  return self->word[param(input_at) / 4 + k / 32] >> k % 32 & 1;
}

static void compute(self_t *self) {
  const uint32_t length = line_length(REGISTER(line_length)), rule = REGISTER(rule_set);
  uint32_t *output = &REGISTER(output);
  memset(output, 0, param(line_bytes));
  uint32_t left = input_cell(self, length - 1), middle = input_cell(self, 0);
  for (uint32_t k = 0; k < length; k++) {
    const uint32_t right = input_cell(self, k + 1 < length ? k + 1 : 0);
    output[k / 32] |= (rule >> (4 * left + 2 * middle + right) & 1) << k % 32;
    left = middle;
    middle = right;
  }
}

static bool computes(const self_t *self) {
  return REGISTER(status) & BIT(computing);
}

static void start(self_t *self) {
  if (computes(self)) return;
  const uint64_t cycles =
      device_cycles((uint64_t)param(time_to_result), FEMTOSECONDS, ticks_per_second(), clock_period());
  set_until(last, cycles ? cycles - 1 : 0);
  REGISTER(status) |= BIT(computing);
  count(busy);
  count_cycles(busy, true);
  event(started, line_length(REGISTER(line_length)));
}

static void end(self_t *self) {
  REGISTER(status) &= ~BIT(computing);
  count_cycles(busy, false);
}

static void complete(self_t *self) {
  compute(self);
  end(self);
  REGISTER(status) |= BIT(is_complete);
  if (REGISTER(control) & BIT(chain)) memcpy(&REGISTER(input), &REGISTER(output), param(line_bytes));
  count(computations);
  if (REGISTER(control) & BIT(notify)) {
    REGISTER(status) |= BIT(interrupting);
    count(interrupts);
  }
  event(completed, line_length(REGISTER(line_length)));
}

// ---- Registers ----
static void set_registers(self_t *self) {
  memset(self->word, 0, sizeof self->word);
  for (int k = 0; k < param_length(registers); k++)
    self->word[param(registers)[k].offset / 4] = param(registers)[k].reset;
  REGISTER(irq_num) = (uint32_t)param(irq_number);
}

init() {
  set_registers(self);
}

static void reset(self_t *self) {
  if (computes(self)) {
    end(self);
    count(dropped);
  }
  set_registers(self);
}

static uint32_t read_register(const self_t *self, uint32_t at) {
  const bool unreadable =
      at == param(reset_at) || at == param(start_at) || (at >= param(input_at) && at < param(output_at));
  return unreadable || at >= sizeof self->word ? 0 : self->word[at / 4];
}

static void write_register(self_t *self, uint32_t at, uint32_t value) {
  switch (at) {
  case param(control_at): REGISTER(control) = value & (BIT(notify) | BIT(chain)); break;
  case param(status_at): REGISTER(status) &= ~(value & (BIT(is_complete) | BIT(interrupting))); break;
  case param(reset_at): reset(self); break;
  case param(rule_set_at): REGISTER(rule_set) = value & 0xff; break;
  case param(line_length_at): REGISTER(line_length) = line_length(value); break;
  case param(start_at):
    if (value & BIT(start)) start(self);
    break;
  default:
    if (at >= param(input_at) && at < param(output_at)) self->word[at / 4] = value;
  }
}

// ---- Requests and time ----
static bool interrupts(const self_t *self) {
  return REGISTER(status) & BIT(interrupting);
}

static void serve(self_t *self, typeof_port(in_request) request) {
  self->reply = (typeof(self->reply)){.tag = request.tag};
  if (request.op >= mem_op_barrier) return;
  const uint32_t at = request.address % (uint32_t)param(size);
  if (request.op > mem_op_write || request.size != 4 || at % 4) {
    self->reply.error = true;
    count(errors);
  } else if (request.op == mem_op_write) {
    write_register(self, at, (uint32_t)request.data);
    count(writes);
  } else {
    uint64_t value = read_register(self, at);
    if (request.sign) extend_sign(&value, 4, sizeof value);
    self->reply.data = (typeof(self->reply.data))value;
    count(reads);
  }
}

phase_start() {
  for (int i = 0; i < width(interrupt); i++) send(interrupt, i, interrupts(self));
  send_if(in_reply, self->replying, self->reply);
}

// What a request finds is the state before a result that comes in the next cycle.
phase_end() {
  self->shown = interrupts(self);
  self->replying = transferred(in_request);
  if (self->replying) serve(self, data(in_request));
  if (computes(self) && within(last, 0)) complete(self);
}

next_event() {
  if (self->replying || self->shown != interrupts(self)) return cycle();
  return unchanged(computes(self) ? after(until(last)) : never());
}

#undef REGISTER
#undef BIT
#undef CELLS
#undef FEMTOSECONDS
