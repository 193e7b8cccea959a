// clock_crossing.c: an asynchronous first-in first-out buffer; see clock_crossing.lss.
//
// Each slot is filled by one side and freed by the other, in turn and at rising instants.  A side acts on what the
// other did only when that is older than its own edge.  That nothing is there shows in a count, and that there is room
// in one instant.

// Whether a change made at instant `mark - 1` is seen now.
#define SEEN(mark)  passed(mark, EDGES)
#define EDGES       (param(stages) == 1 ? 0 : (uint64_t)(param(stages) - 1) * clock_period())
#define AFTER(slot) ((slot) + 1 == param(depth) ? 0 : (slot) + 1)

// With one stage that is one comparison: a slot that is full, or was never used, needs no question of its own.
handler(space) {
  if (param(stages) == 1)
    accept(in, SEEN(room));
  else
    accept(in, !stamped(room) || SEEN(room));
}

handler(offer) {
  if (__builtin_expect(self->held == 0, 1)) {
    send_nothing(out);
    return;
  }
  uint32_t slot = self->head;
  send_if(out, SEEN(filled[slot]), self->slot[slot]);
}

phase_end(in) {
  if (__builtin_expect(!some(in), 1)) return;
  if (transferred(in)) {
    uint32_t slot = self->tail;
    self->slot[slot] = item(in);
    set_stamp(filled[slot], 1);
    self->tail = AFTER(slot);
    self->held++;
    if (self->held == param(depth))
      set_stamp(room, never());
    else
      copy_stamp(room, freed[self->tail]);
  }
}

phase_end(out) {
  if (transferred(out)) {
    uint32_t slot = self->head;
    set_stamp(freed[slot], 1);
    if (self->held == param(depth)) set_stamp(room, 1);
    self->head = AFTER(slot);
    self->held--;
    count(items);
  }
}

// The edge at which a change is seen: this one, or a later one.
static uint64_t seen_in(uint64_t ticks) {
  return cycle() + (ticks + clock_period() - 1) / clock_period();
}

// The vacant slot is acknowledged from the edge on at which its freedom is seen; what was seen in the
// cycle before was seen already.
next_event(in) {
  const bool before = passed(freed[self->tail], EDGES + clock_period());
  return before ? never() : seen_in(until_passed(freed[self->tail], EDGES));
}

next_event(out) {
  return self->held ? seen_in(until_passed(filled[self->head], EDGES)) : never();
}
