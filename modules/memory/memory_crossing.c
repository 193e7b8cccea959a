// memory_crossing.c: a memory port between two clock domains; see memory_crossing.lss.
//
// Both sides count what is in the rings, which says at once that there is nothing to do; a change that the other side
// made counts only when it is older than the edge at which one looks, which the instant noted with each slot tells.  A
// slot for a reply is free whenever a reply can come, because the requester's side accepts no more requests than
// there are slots.

// Whether a change made at instant `mark - 1` is seen now.
#define SEEN(mark) passed(mark, EDGES)
#define EDGES      (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period())

// A request whose reply was seen has left its slot before, so room is in doubt only when as many are in flight as there
// are slots.
handler(space) {
  uint32_t fewest = (uint32_t)(param(requests) < param(outstanding) ? param(requests) : param(outstanding));
  if (__builtin_expect(self->in_flight < fewest, 1)) {
    accept(in_request, true);
    return;
  }
  accept(in_request, self->in_flight < param(outstanding) && self->offered < param(requests) &&
                         SEEN(request_freed[self->request_tail]));
}

handler(offer) {
  if (__builtin_expect(self->offered == 0, 1)) {
    send_nothing(out_request);
    return;
  }
  uint32_t slot = self->request_head;
  send_if(out_request, SEEN(request_filled[slot]), self->request[slot]);
}

handler(reply) {
  if (__builtin_expect(self->replied == 0, 1)) {
    send_nothing(in_reply);
    return;
  }
  uint32_t slot = self->reply_head;
  send_if(in_reply, SEEN(reply_filled[slot]), self->reply[slot]);
}

// Nothing is in either ring: they begin anew, so that what repeats itself comes to the same slots.  A slot for a
// request is not filled again before it has been filled and freed since, so that it does not matter when it was freed
// before.
static void empty(self_t *self) {
  self->request_tail = self->request_head = 0;
  self->reply_tail = self->reply_head = 0;
}

phase_end(in) {
  if (some(in_reply) && transferred(in_reply)) {
    self->reply_head = self->reply_head + 1 == param(outstanding) ? 0 : self->reply_head + 1;
    self->replied--;
    self->in_flight--;
    set_stamp(left, 0);
    if (self->in_flight == 0) empty(self);
  }
  if (transferred(in_request)) {
    uint32_t slot = self->request_tail;
    self->request[slot] = item(in_request);
    set_stamp(request_filled[slot], 1);
    self->request_tail = slot + 1 == param(requests) ? 0 : slot + 1;
    self->offered++;
    self->in_flight++;
  }
}

phase_end(out) {
  if (transferred(out_request)) {
    uint32_t slot = self->request_head;
    set_stamp(request_freed[slot], 1);
    self->request_head = slot + 1 == param(requests) ? 0 : slot + 1;
    self->offered--;
    self->requested++;
  }
  if (transferred(out_reply)) {
    uint32_t slot = self->reply_tail;
    if (self->requested == 0) sim_error("more replies than requests");
    self->reply[slot] = item(out_reply);
    set_stamp(reply_filled[slot], 1);
    self->reply_tail = slot + 1 == param(outstanding) ? 0 : slot + 1;
    self->replied++;
    self->requested--;
  }
}

// The edge at which a change is seen: this one, or a later one.
static uint64_t seen_in(uint64_t ticks) {
  return cycle() + (ticks + clock_period() - 1) / clock_period();
}

next_event(in) {
  if (stamped(left) && !passed(left, clock_period() + 1)) return cycle(); // there may be room for one more
  uint64_t first = self->replied ? seen_in(until_passed(reply_filled[self->reply_head], EDGES)) : never();
  const uint64_t freed = seen_in(until_passed(request_freed[self->request_tail], EDGES));
  // Acknowledged anew, unless it was in the cycle before.
  if (!passed(request_freed[self->request_tail], EDGES + clock_period()) && freed < first) first = freed;
  return unchanged(first);
}

next_event(out) {
  return self->offered ? seen_in(until_passed(request_filled[self->request_head], EDGES)) : never();
}
