// return_stack.c: predicts where returns go; see return_stack.lss.

handler(show, i) {
  send(top, i, self->shown[i]);
}

static inline void push(self_t *self, uint32_t context, uint32_t link) {
  self->address[context][self->shown[context].top++ & (param(depth) - 1)] = link;
  count(pushed);
}

static inline void show_top(self_t *self, uint32_t context) {
  self->shown[context].address = self->address[context][(self->shown[context].top - 1) & (param(depth) - 1)];
}

static inline void follow(self_t *self, uint32_t context, const stack_move *moves) {
  if (moves->push)
    push(self, context, moves->link);
  else
    self->shown[context].top--;
  show_top(self, context);
}

phase_end() {
  const bool redirected = data(redirect).valid;
  const uint32_t of = param(contexts) > 1 ? data(redirect).context : 0;
  self->moved = redirected;
  for (int i = 0; i < width(move); i++) {
    const stack_move *moves = &data(move, i);
    const uint32_t context = param(contexts) > 1 ? moves->context : 0;
    if (!(moves->push | moves->pop)) continue;
    self->moved = true;
    if (!redirected || context != of) follow(self, context, moves);
  }
  if (__builtin_expect(!redirected, true)) return;
  self->shown[of].top = data(redirect).top;
  if (data(redirect).push) push(self, of, data(redirect).link);
  show_top(self, of);
}

next_event() {
  return self->moved ? cycle() : never();
}
