// direction_table.c: counters of directions; see direction_table.lss.

static inline uint32_t place(const self_t *self, uint32_t pc, uint32_t history) {
  const uint32_t known = (1u << param(history_bits)) - 1;
  if (param(local_histories) > 0) history = load(histories, pc >> 2 & (uint32_t)(param(local_histories) - 1));
  return call(index, pc, history & known) & (uint32_t)(param(entries) - 1);
}

static inline bool says_taken(uint8_t counter) {
  return counter >> (param(counter_bits) - 1) & 1;
}

handler(predict, i) {
  uint32_t taken = 0;
  for (uint32_t m = some(port_query, i) ? data(port_query, i).requested : 0; m; m &= m - 1) {
    const uint32_t word = (uint32_t)__builtin_ctz(m);
    const uint32_t at = place(self, data(port_query, i).pc + 4 * word, data(port_query, i).history);
    taken |= (uint32_t)says_taken(load(counter, at)) << word;
  }
  send_if(port_taken, i, some(port_query, i), taken);
}

handler(show, i) {
  send(checks, i, self->checked);
}

static inline void train_one(self_t *self, uint32_t pc, uint32_t history, bool taken) {
  const uint32_t at = place(self, pc, history), largest = (1u << param(counter_bits)) - 1;
  const uint8_t old = load(counter, at);
  const bool right = says_taken(old) == taken;
  count(branches);
  count(wrong, !right);
  if (taken ? old < largest : old > 0) store(counter, at, (uint8_t)(taken ? old + 1 : old - 1));
  if (param(local_histories) > 0) {
    const uint32_t own = pc >> 2 & (uint32_t)(param(local_histories) - 1);
    store(histories, own, (uint16_t)(load(histories, own) << 1 | taken));
  }
  if (width(checks) > 0) {
    const uint32_t n = self->checked.count++;
    self->checked.pc[n] = pc;
    self->checked.history[n] = history;
    self->checked.right[n] = right;
  }
}

phase_end() {
  const bool shows = width(checks) > 0 && self->checked.count > 0;
  const uint32_t n = data(train).count;
  if (shows) self->checked.count = 0;
  if (n == 0) {
    self->moved = shows;
    return;
  }
  self->moved = true;
  for (uint32_t i = 0; i < n; i++)
    if (data(train).kind[i] == branch_kind_conditional)
      train_one(self, data(train).pc[i], data(train).history[i], data(train).taken[i]);
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
