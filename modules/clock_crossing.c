/* clock_crossing.c: an asynchronous first-in first-out buffer; see clock_crossing.lss.
 *
 * Each slot is filled by one side and freed by the other, and each side counts for itself.  A slot is full for the reader
 * when it has been filled more often than freed and the filling is old enough to be seen, and free for the writer
 * likewise. */

handler(space) {
  uint32_t slot = self->tail;
  bool seen = now() >= self->freed[slot] + (uint64_t)(param(stages) - 1) * clock_period();
  accept(in, self->fills[slot] == self->frees[slot] && (self->freed[slot] == 0 || seen));
}

handler(offer) {
  uint32_t slot = self->head;
  bool seen = now() >= self->filled[slot] + (uint64_t)(param(stages) - 1) * clock_period();
  send_if(out, self->fills[slot] != self->frees[slot] && seen, self->slot[slot]);
  enable(out, true);
}

phase_end(in) {
  if (transferred(in)) {
    uint32_t slot = self->tail;
    self->slot[slot] = data(in);
    self->filled[slot] = now() + 1;
    self->fills[slot]++;
    self->tail = slot + 1 == param(depth) ? 0 : slot + 1;
  }
}

phase_end(out) {
  if (transferred(out)) {
    uint32_t slot = self->head;
    self->freed[slot] = now() + 1;
    self->frees[slot]++;
    self->head = slot + 1 == param(depth) ? 0 : slot + 1;
    self->items++;
  }
}
