/* pipe.c: a pipelined delay; see pipe.lss.
 *
 * Nothing is shifted.  In an elastic pipe an item leaves `depth` cycles after it entered or as soon as the one before
 * it has left, which is just what stages that move up into bubbles do.  A rigid pipe is a ring whose exit slot
 * becomes the entry slot when it moves. */

enum { DEPTH = param(depth), ELASTIC = param(elastic) };

phase_start() {
  int head = DEPTH == 1 ? 0 : (int)self->head;
  bool leaving;
  if (!ELASTIC)
    leaving = self->full[head];
  else
    leaving = self->count > 0 && (DEPTH == 1 || cycle() >= self->ready[head]);
  if (leaving)
    send(out, self->slot[head]);
  else
    send_nothing(out);
  accept(flush, true);
}

handler(advance) {
  if (ELASTIC)
    accept(in, self->count < DEPTH || acked(out));
  else
    accept(in, !self->full[DEPTH == 1 ? 0 : self->head] || acked(out));
}

phase_end() {
  bool flushing = width(flush) > 0 && transferred(flush) && data(flush);
  if (!ELASTIC) {
    int head = DEPTH == 1 ? 0 : (int)self->head;
    bool moves = !self->full[head] || transferred(out);
    bool enters = transferred(in);
    if (transferred(out))
      self->count--;
    if (flushing) {
      for (int i = 0; i < DEPTH; i++)
        self->full[i] = false;
      self->count = 0;
    }
    if (moves) {
      self->full[head] = enters;
      if (enters) {
        self->slot[head] = data(in);
        self->count++;
      }
      if (DEPTH > 1)
        self->head = head + 1 == DEPTH ? 0 : head + 1;
    }
    return;
  }
  if (transferred(out)) {
    self->count--;
    if (DEPTH > 1)
      self->head = self->head + 1 == DEPTH ? 0 : self->head + 1;
  }
  if (flushing)
    self->count = 0;
  if (transferred(in)) {
    uint32_t tail = DEPTH == 1 ? 0 : self->head + self->count;
    if (tail >= DEPTH)
      tail -= DEPTH;
    self->slot[tail] = data(in);
    if (DEPTH > 1)
      self->ready[tail] = cycle() + DEPTH;
    self->count++;
  }
}

next_event() { return self->count ? cycle() : never(); }
