// predictor_choice.c: chooses between two predictors of directions; see predictor_choice.lss.

#define PLACE(pc) ((pc) >> 2 & (uint32_t)(param(entries) - 1))

handler(ask_first, i) {
  send_if(first_query, i, some(port_query, i), data(port_query, i));
}

handler(ask_second, i) {
  send_if(second_query, i, some(port_query, i), data(port_query, i));
}

handler(choose, i) {
  uint32_t second = 0;
  for (uint32_t m = some(port_query, i) ? data(port_query, i).requested : 0; m; m &= m - 1) {
    const uint32_t word = (uint32_t)__builtin_ctz(m);
    second |= (uint32_t)(load(counter, PLACE(data(port_query, i).pc + 4 * word)) > 1) << word;
  }
  const uint32_t taken = (data(first_taken, i) & ~second) | (data(second_taken, i) & second);
  send_if(port_taken, i, some(port_query, i), taken);
}

static inline void learn(self_t *self, uint32_t pc, bool second) {
  const uint8_t old = load(counter, PLACE(pc));
  count(differed);
  count(second_right, second);
  if (second ? old < 3 : old > 0) store(counter, PLACE(pc), (uint8_t)(second ? old + 1 : old - 1));
}

phase_end() {
  const uint32_t n = data(checks, 0).count;
  if (n != data(checks, 1).count) sim_error("the two predictors were trained with different branches");
  if (n == 0) {
    self->moved = false;
    return;
  }
  self->moved = true;
  for (uint32_t i = 0; i < n; i++)
    if (data(checks, 0).right[i] != data(checks, 1).right[i])
      learn(self, data(checks, 0).pc[i], data(checks, 1).right[i]);
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
