/* clock_crossing.c: an asynchronous first-in first-out buffer; see clock_crossing.lss.
 *
 * Each slot is filled by one side and freed by the other, in turn and at rising instants, so it is full when it was
 * filled later than freed.  A side acts on what the other did only when that is older than its own edge. */

/* Whether a change made at instant `mark - 1` is seen now. */
#define SEEN(mark) (now() >= (mark) + (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period()))

handler(space) {
  uint32_t slot = self->tail;
  uint64_t freed = self->freed[slot];
  accept(in, self->filled[slot] <= freed && (SEEN(freed) || (param(stages) > 1 && freed == 0)));
}

handler(offer) {
  uint32_t slot = self->head;
  uint64_t filled = self->filled[slot];
  enable(out, true);
  if (filled > self->freed[slot] && SEEN(filled))
    send(out, self->slot[slot]);
  else
    send_nothing(out);
}

phase_end(in) {
  if (transferred(in)) {
    uint32_t slot = self->tail;
    self->slot[slot] = data(in);
    self->filled[slot] = now() + 1;
    self->tail = slot + 1 == param(depth) ? 0 : slot + 1;
  }
}

phase_end(out) {
  if (transferred(out)) {
    uint32_t slot = self->head;
    self->freed[slot] = now() + 1;
    self->head = slot + 1 == param(depth) ? 0 : slot + 1;
    self->items++;
  }
}
