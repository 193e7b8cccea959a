/* memory_crossing.c: a memory port between two clock domains; see memory_crossing.lss.
 *
 * Each ring works like a clock_crossing: one side fills, the other frees, each counts for itself, and a change is seen
 * only when it is older than the edge at which one looks.  A slot for an answer is free whenever an answer can come,
 * because the requester's side accepts no more requests than there are slots. */

/* Whether a change made at instant `mark - 1` is seen now. */
#define SEEN(mark) (now() >= (mark) + (uint64_t)(param(stages) - 1) * clock_period())

handler(space) {
  uint32_t slot = self->request_tail;
  bool vacant = self->request_fills[slot] == self->request_frees[slot] && (self->request_freed[slot] == 0 || SEEN(self->request_freed[slot]));
  accept(in_request, vacant && self->owed < param(outstanding));
}

handler(offer) {
  uint32_t slot = self->request_head;
  send_if(out_request, self->request_fills[slot] != self->request_frees[slot] && SEEN(self->request_filled[slot]), self->request[slot]);
  enable(out_request, true);
}

handler(answer) {
  uint32_t slot = self->reply_head;
  send_if(in_reply, self->reply_fills[slot] != self->reply_frees[slot] && SEEN(self->reply_filled[slot]), self->reply[slot]);
  enable(in_reply, true);
}

handler(take) { accept(out_reply, true); }

phase_end(in) {
  if (transferred(in_request)) {
    uint32_t slot = self->request_tail;
    self->request[slot] = data(in_request);
    self->request_filled[slot] = now() + 1;
    self->request_fills[slot]++;
    self->request_tail = slot + 1 == param(requests) ? 0 : slot + 1;
    self->owed++;
  }
  if (transferred(in_reply)) {
    uint32_t slot = self->reply_head;
    self->reply_frees[slot]++;
    self->reply_head = slot + 1 == param(outstanding) ? 0 : slot + 1;
    self->owed--;
  }
}

phase_end(out) {
  if (transferred(out_request)) {
    uint32_t slot = self->request_head;
    self->request_freed[slot] = now() + 1;
    self->request_frees[slot]++;
    self->request_head = slot + 1 == param(requests) ? 0 : slot + 1;
  }
  if (transferred(out_reply)) {
    uint32_t slot = self->reply_tail;
    if (self->reply_fills[slot] != self->reply_frees[slot])
      sim_error("more answers than requests");
    self->reply[slot] = data(out_reply);
    self->reply_filled[slot] = now() + 1;
    self->reply_fills[slot]++;
    self->reply_tail = slot + 1 == param(outstanding) ? 0 : slot + 1;
  }
}

#undef SEEN
