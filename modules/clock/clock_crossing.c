/* clock_crossing.c: an asynchronous first-in first-out buffer; see clock_crossing.lss.
 *
 * Each slot is filled by one side and freed by the other, in turn and at rising instants.  A side acts on what the
 * other did only when that is older than its own edge.  That nothing is there shows in a count, and that there is room
 * in one instant. */

/* Whether a change made at instant `mark - 1` is seen now. */
#define SEEN(mark)  (now() >= (mark) + (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period()))
#define AFTER(slot) ((slot) + 1 == param(depth) ? 0 : (slot) + 1)

/* With one stage that is one comparison: a slot that is full, or was never used, needs no question of its own. */
handler(space) {
  if (param(stages) == 1)
    accept(in, SEEN(self->room));
  else
    accept(in, self->room == 0 || (self->room != never() && SEEN(self->room)));
}

handler(offer) {
  if (__builtin_expect(self->held == 0, 1)) {
    send_nothing(out);
    return;
  }
  uint32_t slot = self->head;
  send_if(out, SEEN(self->filled[slot]), self->slot[slot]);
}

phase_end(in) {
  if (__builtin_expect(!some(in), 1)) return;
  if (transferred(in)) {
    uint32_t slot = self->tail;
    self->slot[slot] = item(in);
    self->filled[slot] = now() + 1;
    self->tail = AFTER(slot);
    self->held++;
    self->room = self->held == param(depth) ? never() : self->freed[self->tail];
  }
}

phase_end(out) {
  if (transferred(out)) {
    uint32_t slot = self->head;
    self->freed[slot] = now() + 1;
    if (self->held == param(depth)) self->room = now() + 1;
    self->head = AFTER(slot);
    self->held--;
    count(items);
  }
}

/* The edge at which a change is seen: this one, or a later one. */
static uint64_t seen_at(uint64_t mark) {
  uint64_t from = mark + (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period());
  return from > now() ? cycle() + (from - now() + clock_period() - 1) / clock_period() : cycle();
}

/* The vacant slot is acknowledged from the edge on at which its freedom is seen; what was seen in the
 * cycle before was seen already. */
next_event(in) {
  const uint64_t freed = self->freed[self->tail];
  return seen_at(freed + clock_period()) > cycle() ? seen_at(freed) : never();
}

next_event(out) {
  return self->held ? seen_at(self->filled[self->head]) : never();
}
