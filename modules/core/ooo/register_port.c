// register_port.c: registers of programs, from outside; see register_port.lss.

// The register that a request is for; 0: it is in error, or for that.
static inline uint32_t register_of(const typeof_port(in_request) * request) {
  const uint32_t number = request->address / 4;
  const bool serves = request->op <= mem_op_write && request->size == 4 && request->address % 4 == 0;
  return serves && number < (uint32_t)param(logical) ? number : 0;
}

handler(ask) {
  typeof_port(registers_numbers) numbers = {0};
  if (some(in_request)) numbers.of[0] = data(committed).of[register_of(&data(in_request))];
  send_if(registers_numbers, some(in_request), numbers);
}

handler(put) {
  typeof_port(write) written = {0};
  const uint32_t number = some(in_request) && data(in_request).op == mem_op_write ? register_of(&data(in_request)) : 0;
  if (number > 0) written = (typeof_port(write)){.dest = data(committed).of[number], .value = data(in_request).data};
  send(write, written);
}

handler(reply) {
  if (!some(in_request)) {
    send_nothing(in_reply);
    return;
  }
  const typeof_port(in_request) *request = &data(in_request);
  typeof_port(in_reply) replied = {.tag = request->tag};
  replied.error =
      register_of(request) == 0 && (request->address != 0 || request->op > mem_op_write || request->size != 4);
  if (!replied.error && request->op == mem_op_read && request->address != 0)
    replied.data = data(registers_values).of[0];
  send(in_reply, replied);
}
