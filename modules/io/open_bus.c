// open_bus.c: nothing is connected; see open_bus.lss.
#include "io/device_access.h"

phase_start() {
  send_if(in_reply, self->replying, self->reply);
}

static uint8_t read_byte(self_t *self, uint32_t address) {
  (void)self, (void)address;
  return (uint8_t)param(value);
}

static void write_byte(self_t *self, uint32_t address, uint8_t value) {
  (void)self, (void)address, (void)value;
}

phase_end() {
  self->replying = transferred(in_request);
  if (!self->replying) return;
  const typeof_port(in_request) request = data(in_request);
  if (request.op <= mem_op_write) count(accesses);
  DEVICE_SERVE(request, false);
}

next_event() {
  return self->replying ? cycle() : never();
}
