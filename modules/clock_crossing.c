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

/* The edge at which a change is seen: this one, or a later one. */
static uint64_t seen_at(uint64_t mark) {
  uint64_t from = mark + (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period());
  return from > now() ? cycle() + (from - now() + clock_period() - 1) / clock_period() : cycle();
}

/* The vacant slot is acknowledged from the edge on at which its freedom is seen; then nothing new happens on this side. */
next_event(in) {
  uint64_t edge = seen_at(self->freed[self->tail]);
  return edge > cycle() ? edge : never();
}

next_event(out) {
  uint32_t slot = self->head;
  return self->filled[slot] > self->freed[slot] ? seen_at(self->filled[slot]) : never();
}

#undef SEEN
