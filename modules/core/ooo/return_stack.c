/* return_stack.c: predicts where returns go; see return_stack.lss. */

handler(show, i) {
  send(top, i, self->shown);
}

static inline void push(self_t *self, uint32_t link) {
  self->address[self->shown.top++ & (param(depth) - 1)] = link;
  count(pushed);
}

phase_end() {
  const stack_move *moves = &data(move);
  const bool redirected = data(redirect).valid;
  self->moved = redirected | moves->push | moves->pop;
  if (__builtin_expect(!self->moved, true)) return;
  if (redirected) {
    self->shown.top = data(redirect).top;
    if (data(redirect).push) push(self, data(redirect).link);
  } else if (moves->push) {
    push(self, moves->link);
  } else {
    self->shown.top--;
  }
  self->shown.address = self->address[(self->shown.top - 1) & (param(depth) - 1)];
}

next_event() {
  return self->moved ? cycle() : never();
}
