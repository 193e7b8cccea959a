/* multiply_divide.c: HI and LO; see multiply_divide.lss. */
#include "emulib/arithmetic.h"

phase_start() {
  typeof_port(hilo) state = {.hi = self->hi, .lo = self->lo, .ready = within(ready, 1)};
  for (int i = 0; i < width(hilo); i++) send(hilo, i, state);
}

static inline void occupy(self_t *self, uint64_t cycles) {
  set_until(ready, cycles);
  count(busy, cycles);
}

static inline void operate(self_t *self, muldiv_op op, uint32_t a, uint32_t b) {
  uint64_t product;
  switch (op) {
  case muldiv_op_mult: product = (uint64_t)((int64_t)(int32_t)a * (int32_t)b); break;
  case muldiv_op_multu: product = (uint64_t)a * b; break;
  case muldiv_op_div:
    self->lo = quotient_signed(a, b);
    self->hi = remainder_signed(a, b);
    occupy(self, (uint64_t)param(divide_cycles));
    return;
  case muldiv_op_divu:
    self->lo = quotient_unsigned(a, b);
    self->hi = remainder_unsigned(a, b);
    occupy(self, (uint64_t)param(divide_cycles));
    return;
  case muldiv_op_mthi: self->hi = a; return;
  case muldiv_op_mtlo: self->lo = a; return;
  default: return;
  }
  self->lo = (uint32_t)product;
  self->hi = (uint32_t)(product >> 32);
  occupy(self, (uint64_t)param(multiply_cycles));
}

phase_end() {
  if (!__builtin_expect(transferred(in), false)) return;
  operate(self, data(in).op, data(in).a, data(in).b);
  set_until(seen, 2);
}

// Readiness shows one cycle ahead.
next_event() {
  if (until(seen)) return cycle();
  return until(ready) ? after(until(ready) - 1) : never();
}
