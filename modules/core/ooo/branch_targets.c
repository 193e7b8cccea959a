/* branch_targets.c: a branch target buffer; see branch_targets.lss. */

/* The entry of a branch; -1: there is none. */
static inline int find_entry(const self_t *self, uint32_t pc) {
  const int first = (int)(pc >> 2 & (uint32_t)(param(sets) - 1)) * param(ways);
  for (int way = 0; way < param(ways); way++)
    if (load(tag, first + way) == (pc | 1)) return first + way;
  return -1;
}

handler(find) {
  if (!some(port_query)) {
    send_nothing(port_known);
    return;
  }
  typeof_port(port_known) known;
  known.conditional = known.unconditional = 0;
  for (int i = 0; i < param(width); i++) {
    const int at = find_entry(self, data(port_query) + 4 * (uint32_t)i);
    known.kind[i] = branch_kind_none;
    known.target[i] = 0;
    if (__builtin_expect(at < 0, true)) continue;
    known.kind[i] = load(kind, at);
    known.target[i] = load(target, at);
    const bool conditional = known.kind[i] == branch_kind_conditional;
    known.conditional |= (uint32_t)conditional << i;
    known.unconditional |= (uint32_t)!conditional << i;
  }
  send(port_known, known);
}

static inline void enter(self_t *self, uint32_t pc, uint32_t target, branch_kind kind) {
  int at = find_entry(self, pc);
  if (at < 0) {
    const int set = (int)(pc >> 2 & (uint32_t)(param(sets) - 1));
    const uint8_t way = param(ways) > 1 ? load(next, set) : 0;
    at = set * param(ways) + way;
    if (param(ways) > 1) store(next, set, (uint8_t)(way + 1 < param(ways) ? way + 1 : 0));
    store(tag, at, pc | 1);
    store(kind, at, kind);
    count(entered);
  } else if (load(target, at) == target && load(kind, at) == kind) {
    return;
  }
  store(kind, at, kind);
  store(target, at, target);
}

phase_end() {
  const uint32_t n = data(train).count;
  if (n == 0) {
    if (!self->moved) unchanged();
    self->moved = false;
    return;
  }
  self->moved = true;
  for (uint32_t i = 0; i < n; i++)
    if (data(train).taken[i]) enter(self, data(train).pc[i], data(train).target[i], data(train).kind[i]);
}

next_event() {
  return self->moved ? cycle() : never();
}
