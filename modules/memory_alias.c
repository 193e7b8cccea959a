/* memory_alias.c: atomic operations through windows of the address space; see memory_alias.lss. */

/* Without branches: whether a lane is asked, and what for, is as good as random. */
handler(turn) {
  const typeof_port(in_request) nothing = {0};
  for (int i = 0; i < width(in_request); i++) {
    typeof_port(in_request) request = *(some(in_request, i) ? &item(in_request, i) : &nothing);
    const mem_op op = request.op;
    const uint32_t address = request.address;
    const bool plain = op <= mem_op_write;
    const mem_op turned = call(operation, op, address);
    const uint32_t place = call(map, op, address);
    const typeof(request.data) value = (typeof(request.data))call(operand, op, address, request.data);
    request.op = plain ? turned : op;
    request.address = plain ? place : address;
    request.data = plain ? value : request.data;
    send_if(out_request, i, some(in_request, i), request);
  }
}

handler(commit) {
  for (int i = 0; i < width(in_request); i++) enable(out_request, i, enabled(in_request, i));
}

handler(accept) {
  for (int i = 0; i < width(in_request); i++) accept(in_request, i, acked(out_request, i));
}

handler(answer) {
  const typeof_port(in_reply) nothing = {0};
  for (int i = 0; i < width(in_reply); i++)
    send_if(in_reply, i, some(out_reply, i), *(some(out_reply, i) ? &item(out_reply, i) : &nothing));
}

handler(vouch) {
  for (int i = 0; i < width(in_reply); i++) enable(in_reply, i, enabled(out_reply, i));
}

phase_end() {
  for (int i = 0; i < width(out_request); i++)
    if (transferred(out_request, i) && item(out_request, i).op != item(in_request, i).op)
      event(turned, i, item(out_request, i).op, item(out_request, i).address);
}
