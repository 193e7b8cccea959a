// memory_arbiter.c: shares one memory port; see memory_arbiter.lss.

// Bits that a lane number takes in the tag.
#define LANE_BITS (width(in_request) > 1 ? 32 - __builtin_clz(width(in_request) - 1) : 0)

handler(choose) {
  uint64_t requests = 0;
  for (int i = 0; i < width(in_request); i++) requests |= (uint64_t)some(in_request, i) << i;
  set(requesting, requests);
  if (requests == 0) {
    set(winner, -1);
    send_nothing(out_request);
    return;
  }
  int32_t lane = call(policy, requests, self->last, self->served);
  if (lane < -1 || lane >= width(in_request))
    sim_error("the policy chose lane %d, there are %d", (int)lane, width(in_request));
  if (lane >= 0 && !(requests >> lane & 1)) lane = -1;
  set(winner, lane);
  if (lane < 0) {
    send_nothing(out_request);
    return;
  }
  typeof_port(out_request) request;
  for (int i = 0; i < width(in_request); i++)
    if (lane == i) request = item(in_request, i);
  if (LANE_BITS > 0) {
    if (__builtin_expect(request.tag >> (32 - LANE_BITS), 0))
      sim_error("tag 0x%x of lane %d leaves no room for %d bits of lane", (unsigned)request.tag, (int)lane, LANE_BITS);
    request.tag = request.tag << LANE_BITS | (uint32_t)lane;
  }
  send(out_request, request);
}

handler(commit) {
  if (get(winner) < 0) {
    enable(out_request, false);
    return;
  }
  bool committed = false;
  for (int i = 0; i < width(in_request); i++) committed |= (get(winner) == i) & enabled(in_request, i);
  enable(out_request, committed);
}

handler(find_accepted) {
  if (get(winner) < 0) {
    set(accepted, -1);
    return;
  }
  set(accepted, acked(out_request) ? get(winner) : -1);
}

handler(accept, i) {
  accept(in_request, i, get(accepted) == i);
}

handler(find_requester) {
  if (!some(out_reply) || !enabled(out_reply)) {
    set(replied, -1);
    return;
  }
  int32_t lane = (int32_t)(item(out_reply).tag & ((1u << LANE_BITS) - 1));
  if (__builtin_expect(lane >= width(in_request), 0))
    sim_error("a reply came back with tag 0x%x, which no requester here used", (unsigned)item(out_reply).tag);
  set(replied, lane);
}

handler(reply, i) {
  if (get(replied) != i) {
    send_nothing(in_reply, i);
    return;
  }
  typeof_port(in_reply) reply = item(out_reply);
  reply.tag >>= LANE_BITS;
  send(in_reply, i, reply);
}

phase_end() {
  if (!transferred(out_request)) return;
  const int32_t lane = get(winner);
  self->served = lane == self->last ? self->served + (self->served < UINT8_MAX) : 1;
  self->last = lane;
  event(won, lane, item(out_request).op, item(out_request).address, item(out_request).size, get(requesting));
}

next_event() {
  return unchanged(never());
}
