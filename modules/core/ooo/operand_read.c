// operand_read.c: reads the operands of what was granted; see operand_read.lss.
#include "core/ooo/places.h"
#include "core/ooo/register_sets.h"

phase_start() {
  for (int i = 0; i < width(in); i++) {
    const issued *op = &self->held[i];
    typeof_port(registers_numbers) numbers;
    for (int k = 0; k < param(sources); k++) numbers.of[k] = op->source[k];
    send_if(registers_numbers, i, self->full >> i & 1, numbers);
    send_if(list_age, i, self->full >> i & 1, self->held[i].age);
  }
}

static inline bool spoiled(const issued *op, const uint64_t *set) {
  bool any = false;
  for (int k = 0; k < param(sources); k++) any |= register_in(set, op->source[k]);
  return any;
}

// Those of what is dropped, besides what was cancelled.
static __attribute__((noinline)) void add_dropped(const self_t *self, int lanes, const uint64_t *set, uint64_t *all) {
  for (int i = 0; i < lanes; i++)
    if (self->full >> i & 1 && spoiled(&self->held[i], set)) register_add(all, self->held[i].dest);
  all[0] &= ~UINT64_C(1); // register 0 is always there
}

handler(drop, i) {
  typeof_port(cancel) all = data(cancel);
  if (__builtin_expect(register_any(all.of, param(words)), false))
    add_dropped(self, width(in), data(cancel).of, all.of);
  send(cancelled, i, all);
}

handler(pass, i) {
  const issued *op = &self->held[i];
  if (!(self->full >> i & 1) ||
      __builtin_expect(register_any(data(cancel).of, param(words)) && spoiled(op, data(cancel).of), false)) {
    send_nothing(out, i);
    return;
  }
  typeof_port(out) o = {.op = data(list_value, i), .age = op->age, .dest = op->dest};
  for (int k = 0; k < param(sources); k++) {
    uint32_t value = data(registers_values, i).of[k];
    const uint32_t number = op->source[k];
    if (number == 0) {
      o.value[k] = 0;
      continue;
    }
    for (int u = 0; u < width(results); u++)
      if (data(results, u).dest == number) value = data(results, u).value;
    o.value[k] = value;
  }
  send(out, i, o);
}

phase_end() {
  uint32_t came = 0, passed = 0;
  for (int i = 0; i < width(in); i++) {
    came |= (uint32_t)some(in, i) << i;
    passed |= (uint32_t)transferred(out, i) << i;
    if (some(in, i)) self->held[i] = item(in, i);
  }
  self->moved = (came | self->full) != 0;
  event(dropped, (uint32_t)__builtin_popcount(self->full & ~passed));
  self->full = came;
  if (__builtin_expect(data(squash).valid, false))
    for (int i = 0; i < width(in); i++)
      if (age_follows(self->held[i].age, data(squash).age, param(contexts))) self->full &= ~(1u << i);
  event(dropped, (uint32_t)__builtin_popcount(came & ~self->full));
}

next_event() {
  return self->moved ? cycle() : never();
}
