// memory_router.c: one stream of references over several targets; see memory_router.lss.
#include "memory_router.h"

phase_start() {
  for (int i = 0; i < width(out_reply); i++) accept(out_reply, i, true);
  for (int i = 0; i < width(context); i++) accept(context, i, true);
  if (width(notice)) {
    if (self->told) send(notice, self->told);
    else send_nothing(notice);
  }
}

handler(forward) {
  int to = -2;
  if (some(in_request) && !self->refused) {
    typeof_port(in_request) request = data(in_request);
    uint32_t values[width(context) + 1];
    for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? data(context, i) : 0;
    uint64_t contexts = (uint64_t)(uintptr_t)values;
    int lane = call(route, contexts, request.address, request.op != mem_op_read);
    if (self->waiting < param(outstanding) && (self->waiting == 0 || lane == self->current)) {
      to = lane < 0 || lane >= width(out_request) ? -1 : lane;
      if (to >= 0) request.address = call(map, contexts, request.address);
      for (int i = 0; i < width(out_request); i++) {
        if (i == to) send(out_request, i, request);
        else send_nothing(out_request, i);
      }
    }
  }
  if (to < 0)
    for (int i = 0; i < width(out_request); i++) send_nothing(out_request, i);
  set(target, to);
}

handler(commit) {
  for (int i = 0; i < width(out_request); i++) enable(out_request, i, i == get(target) && enabled(in_request));
}

handler(answer) {
  bool taken = get(target) == -1;
  for (int i = 0; i < width(out_request); i++) taken |= i == get(target) && acked(out_request, i);
  accept(in_request, taken);
}

handler(back) {
  typeof_port(in_reply) reply = {0};
  bool any = self->refused;
  if (any) {
    reply.tag = self->refused_tag;
    reply.error = true;
  }
  for (int i = 0; i < width(out_reply); i++) {
    if (some(out_reply, i)) {
      reply = data(out_reply, i);
      any = true;
    }
  }
  if (any) send(in_reply, reply);
  else send_nothing(in_reply);
}

handler(settle) {
  bool any = self->refused;
  for (int i = 0; i < width(out_reply); i++) any |= some(out_reply, i) && enabled(out_reply, i);
  enable(in_reply, any);
}

phase_end() {
  self->told = 0;
  self->refused = false;
  if (self->waiting) {
    for (int i = 0; i < width(out_reply); i++) {
      if (!transferred(out_reply, i)) continue;
      self->told = self->notices[self->oldest];
      self->oldest = self->oldest + 1 == param(outstanding) ? 0 : self->oldest + 1;
      self->waiting--;
    }
  }
  if (!transferred(in_request)) return;
  typeof_port(in_request) request = data(in_request);
  bool write = request.op != mem_op_read;
  self->references++;
  if (get(target) < 0) {
    self->refused = true;
    self->refused_tag = request.tag;
    self->errors++;
    event(unmapped, request.address, write);
    return;
  }
  uint32_t values[width(context) + 1];
  for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? data(context, i) : 0;
  int place = self->oldest + self->waiting;
  if (place >= param(outstanding)) place -= param(outstanding);
  self->notices[place] = call(noticed, (uint64_t)(uintptr_t)values, request.address, write);
  self->waiting++;
  self->current = get(target);
}

next_event() { return self->refused || self->told ? cycle() : never(); }
