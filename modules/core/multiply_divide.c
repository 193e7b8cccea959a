// multiply_divide.c: HI and LO; see multiply_divide.lss.
#include "emulib/arithmetic.h"

phase_start() {
  typeof_port(hilo) state = {.hi = self->hi, .lo = self->lo, .ready = within(ready, 1)};
  for (int i = 0; i < width(hilo); i++) send(hilo, i, state);
}

#define PRODUCT_REQUESTED (some(in) && data(in).op == muldiv_op_mul)

handler(multiply) {
  if (__builtin_expect(PRODUCT_REQUESTED, false)) {
    const muldiv_product product = {.value = self->spent ? self->product : data(in).a * data(in).b,
                                    .ready = self->spent + 1 >= (uint32_t)param(product_cycles)};
    for (int i = 0; i < width(product); i++) send(product, i, product);
  } else {
    for (int i = 0; i < width(product); i++) send_nothing(product, i);
  }
}

handler(commit) {
  for (int i = 0; i < width(product); i++) enable(product, i, enabled(in));
}

static inline void occupy(self_t *self, uint64_t cycles) {
  set_until(ready, cycles);
  count(busy, cycles);
}

static inline void operate(self_t *self, muldiv_op op, uint32_t a, uint32_t b) {
  const uint64_t before = (uint64_t)self->hi << 32 | self->lo;
  uint64_t product;
  switch (op) {
  case muldiv_op_mul: count(busy, (uint64_t)param(product_cycles)); return;
  case muldiv_op_mult: product = product_signed(a, b); break;
  case muldiv_op_multu: product = product_unsigned(a, b); break;
  case muldiv_op_madd: product = before + product_signed(a, b); break;
  case muldiv_op_maddu: product = before + product_unsigned(a, b); break;
  case muldiv_op_msub: product = before - product_signed(a, b); break;
  case muldiv_op_msubu: product = before - product_unsigned(a, b); break;
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

// One more cycle of a `mul`.  When its product is ready, it may still have to wait for the stage behind it.
static inline void go_on(self_t *self, uint32_t product) {
  if (self->spent == 0) self->product = product;
  if (self->spent + 1 < (uint32_t)param(product_cycles)) self->spent++;
}

phase_end() {
  if (width(product) && __builtin_expect(some(in) || self->spent, false)) {
    if (PRODUCT_REQUESTED && !transferred(in))
      go_on(self, data(in).a * data(in).b);
    else
      self->spent = 0;
  }
  if (width(load) && transferred(load)) {
    self->hi = data(load).hi;
    self->lo = data(load).lo;
    set_until(seen, 2);
  }
  if (!__builtin_expect(transferred(in), false)) return;
  operate(self, data(in).op, data(in).a, data(in).b);
  set_until(seen, 2);
}

// Readiness shows one cycle ahead.
next_event() {
  if (until(seen) || self->spent) return cycle();
  return unchanged(until(ready) ? after(until(ready) - 1) : never());
}
