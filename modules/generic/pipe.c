// pipe.c: a pipelined delay; see pipe.lss.
//
// Nothing is shifted.  In an elastic pipe an item leaves `depth` cycles after it entered or as soon as the one before
// it has left, which is just what stages that move up into bubbles do.  A rigid pipe is a ring whose exit slot
// becomes the entry slot when it moves.
//
// An item that was refused stays where it is, and a pipe that only offers it again does nothing: that an item is new at
// the exit is known from `refused` or `ready`.

phase_start() {
  int head = param(depth) == 1 ? 0 : (int)self->head;
  bool leaving;
  if (!param(elastic) || param(depth) == 1)
    leaving = self->full[head];
  else
    leaving = self->count > 0 && within(ready[head], 1);
  set(leaving, leaving);
  send_if(out, leaving, self->slot[head]);
}

handler(advance) {
  if (param(depth) == 1)
    accept(in, !get(leaving) | acked(out));
  else if (param(elastic))
    accept(in, self->count < param(depth) || (get(leaving) && acked(out)));
  else
    accept(in, !get(leaving) | acked(out));
}

phase_end() {
  bool flushing = width(flush) > 0 && transferred(flush) && data(flush);
  if (width(flush) > 0 && flushing) set_until(flushes, 2);
  if (param(depth) == 1) { // one latch, elastic or not
    const bool enters = transferred(in), stays = some(out) & !acked(out) & !flushing;
    self->full[0] = enters | stays;
    self->refused = stays;
    if (enters) self->slot[0] = item(in);
    if (flushing) count(flushed, some(out) & !acked(out));
    return;
  }
  if (!param(elastic)) {
    const uint32_t head = self->head;
    const bool moves = !self->full[head] || transferred(out), enters = transferred(in);
    self->refused = !moves;
    if (transferred(out)) self->count--;
    if (flushing) {
      count(flushed, self->count);
      for (int i = 0; i < param(depth); i++) self->full[i] = false;
      self->count = 0;
    }
    if (moves) {
      self->full[head] = enters;
      if (enters) {
        self->slot[head] = data(in);
        self->count++;
      }
      if (self->count > 0) // an empty ring need not move, as it does not while idle time is skipped
        self->head = head + 1 == param(depth) ? 0 : head + 1;
    }
    return;
  }
  if (transferred(out)) {
    self->count--;
    self->head = self->count == 0 || self->head + 1 == param(depth) ? 0 : self->head + 1;
    if (within(ready[self->head], 2)) set_until(ready[self->head], 2); // offered from the coming cycle on
  }
  if (flushing) {
    count(flushed, self->count);
    self->count = 0;
  }
  if (transferred(in)) {
    uint32_t tail = self->head + self->count;
    if (tail >= param(depth)) tail -= param(depth);
    self->slot[tail] = data(in);
    set_until(ready[tail], param(depth) + 1);
    self->count++;
  }
}

next_event() {
  if (width(flush) > 0 && !within(flushes, 0)) return cycle();
  const bool empty = param(depth) == 1 ? !self->full[0] : self->count == 0;
  if (empty) return never();
  if (param(depth) == 1 || !param(elastic)) return self->refused ? unchanged() : cycle();
  const uint64_t left = until(ready[self->head]);
  return left > 0 ? after(left - 1) : unchanged();
}
