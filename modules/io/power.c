// power.c: the end of a run from within; see power.lss.
#include "io/device_access.h"

phase_start() {
  send_if(in_reply, self->replying, self->reply);
}

static void end(self_t *self) {
  const uint8_t *byte = self->exit_status;
  const uint32_t status = (uint32_t)(byte[0] | byte[1] << 8 | byte[2] << 16) | (uint32_t)byte[3] << 24;
  report(status, status);
  event(ended, status);
  if (status)
    sim_exit((int)status, "the machine was switched off with status %u", status);
  else
    sim_exit(0, "the machine was switched off");
}

static uint8_t read_byte(const self_t *self, uint32_t address) {
  return address & 4 ? self->exit_status[address & 3] : 0;
}

static void write_byte(self_t *self, uint32_t address, uint8_t value) {
  if (address & 4)
    self->exit_status[address & 3] = value;
  else if ((address & 3) == 0 && value == param(value))
    end(self);
}

phase_end() {
  self->replying = transferred(in_request);
  if (!self->replying) return;
  const typeof_port(in_request) request = data(in_request);
  DEVICE_SERVE(request, param(big_endian));
}

next_event() {
  return self->replying ? cycle() : never();
}
