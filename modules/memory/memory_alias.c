// memory_alias.c: atomic operations through windows of the address space; see memory_alias.lss.

handler(convert) {
  for (int i = 0; i < width(in_request); i++) {
    if (!some(in_request, i)) {
      send_nothing(out_request, i);
      continue;
    }
    typeof_port(in_request) request = item(in_request, i);
    if (request.op <= mem_op_write) {
      const mem_op op = request.op;
      const uint32_t address = request.address;
      request.op = call(operation, op, address);
      request.address = call(map, op, address);
      request.data = (typeof(request.data))call(operand, op, address, request.data);
    }
    send(out_request, i, request);
  }
}

handler(commit) {
  for (int i = 0; i < width(in_request); i++) enable(out_request, i, enabled(in_request, i));
}

handler(accept) {
  for (int i = 0; i < width(in_request); i++) accept(in_request, i, acked(out_request, i));
}

handler(reply) {
  for (int i = 0; i < width(in_reply); i++) {
    if (some(out_reply, i))
      send(in_reply, i, item(out_reply, i));
    else
      send_nothing(in_reply, i);
  }
}

handler(commit_reply) {
  for (int i = 0; i < width(in_reply); i++) enable(in_reply, i, enabled(out_reply, i));
}

phase_end() {
  for (int i = 0; i < width(out_request); i++)
    if (transferred(out_request, i) && item(out_request, i).op != item(in_request, i).op)
      event(converted, i, item(out_request, i).op, item(out_request, i).address);
}
