/* memory_crossing.c: a memory port between two clock domains; see memory_crossing.lss.
 *
 * Each ring works like a clock_crossing: a slot is full when it was filled later than freed, and a change is seen only
 * when it is older than the edge at which one looks.  A slot for an answer is free whenever an answer can come, because
 * the requester's side accepts no more requests than there are slots. */

/* Whether a change made at instant `mark - 1` is seen now. */
#define SEEN(mark) (now() >= (mark) + (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period()))

handler(space) {
  uint32_t slot = self->request_tail;
  uint64_t freed = self->request_freed[slot];
  bool vacant = self->request_filled[slot] <= freed && (SEEN(freed) || (param(stages) > 1 && freed == 0));
  accept(in_request, vacant && self->owed < param(outstanding));
}

handler(offer) {
  uint32_t slot = self->request_head;
  uint64_t filled = self->request_filled[slot];
  if (filled > self->request_freed[slot] && SEEN(filled))
    send(out_request, self->request[slot]);
  else
    send_nothing(out_request);
}

handler(answer) {
  if (self->owed == 0) {
    send_nothing(in_reply);
    return;
  }
  uint32_t slot = self->reply_head;
  uint64_t filled = self->reply_filled[slot];
  if (filled > self->reply_freed[slot] && SEEN(filled))
    send(in_reply, self->reply[slot]);
  else
    send_nothing(in_reply);
}

phase_end(in) {
  if (transferred(in_request)) {
    uint32_t slot = self->request_tail;
    self->request[slot] = data(in_request);
    self->request_filled[slot] = now() + 1;
    self->request_tail = slot + 1 == param(requests) ? 0 : slot + 1;
    self->owed++;
  }
  if (transferred(in_reply)) {
    uint32_t slot = self->reply_head;
    self->reply_freed[slot] = now() + 1;
    self->reply_head = slot + 1 == param(outstanding) ? 0 : slot + 1;
    self->owed--;
  }
}

phase_end(out) {
  if (transferred(out_request)) {
    uint32_t slot = self->request_head;
    self->request_freed[slot] = now() + 1;
    self->request_head = slot + 1 == param(requests) ? 0 : slot + 1;
  }
  if (transferred(out_reply)) {
    uint32_t slot = self->reply_tail;
    if (self->reply_filled[slot] > self->reply_freed[slot]) sim_error("more answers than requests");
    self->reply[slot] = data(out_reply);
    self->reply_filled[slot] = now() + 1;
    self->reply_tail = slot + 1 == param(outstanding) ? 0 : slot + 1;
  }
}

/* The edge at which a change is seen: this one, or a later one. */
static uint64_t seen_at(uint64_t mark) {
  uint64_t from = mark + (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period());
  return from > now() ? cycle() + (from - now() + clock_period() - 1) / clock_period() : cycle();
}

next_event(in) {
  uint32_t slot = self->reply_head;
  if (self->owed && self->reply_filled[slot] > self->reply_freed[slot]) return seen_at(self->reply_filled[slot]);
  uint64_t edge = seen_at(self->request_freed[self->request_tail]); /* a slot is acknowledged anew */
  return edge > cycle() ? edge : never();
}

next_event(out) {
  uint32_t slot = self->request_head;
  return self->request_filled[slot] > self->request_freed[slot] ? seen_at(self->request_filled[slot]) : never();
}

#undef SEEN
