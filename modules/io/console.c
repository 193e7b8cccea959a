// console.c: a place to print and a place to end; see console.lss.

init() {
  stream_write_open(&self->file, param(output));
}

phase_start() {
  for (int i = 0; i < width(port_request); i++) {
    typeof_port(port_reply) reply = {.tag = self->tag[i], .error = self->wrong[i]};
    send_if(port_reply, i, self->replying[i], reply);
  }
}

// A program has ended; when all have, so has the run, with the first status that is not 0.
static void ended(self_t *self, int lane, int32_t status) {
  if (!self->exited[lane]) count(exits);
  self->exited[lane] = true;
  if (self->first_status == 0) self->first_status = status;
  report(status, self->first_status);
  bool all = true;
  for (int i = 0; i < width(port_request); i++) all &= self->exited[i];
  if (!all) return;
  if (self->first_status)
    sim_exit(self->first_status, "the program exited with status %d", (int)self->first_status);
  else
    sim_exit(0, "the program exited");
}

phase_end() {
  for (int i = 0; i < width(port_request); i++) {
    self->replying[i] = transferred(port_request, i);
    if (!self->replying[i]) continue;
    typeof_port(port_request) request = data(port_request, i);
    uint32_t offset = request.address - (uint32_t)param(base);
    self->tag[i] = request.tag;
    self->wrong[i] = offset >= 12 && request.op < mem_op_barrier;
    if (request.op != mem_op_write) continue;
    if (offset < 4) {
      uint8_t byte = (uint8_t)request.data;
      stream_write(&self->file, &byte, 1);
      count(bytes);
      sim_progress();
    } else if (offset < 8) {
      event(exited, i, (uint32_t)request.data);
      ended(self, i, (int32_t)request.data);
    } else if (offset < 12 && (uint32_t)request.data) {
      event(marker, (uint32_t)request.data);
    }
  }
}

next_event() {
  for (int i = 0; i < width(port_request); i++)
    if (self->replying[i]) return cycle();
  return never();
}
