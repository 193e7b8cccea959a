// branch_targets.c: a branch target buffer; see branch_targets.lss.

// The set of a branch: those of contexts that have tags of their own begin at other places, so that branches of one
// address do not displace each other.
static inline int set_of(uint32_t pc, uint64_t tag) {
  const uint32_t apart = (uint32_t)(tag >> 32) * (uint32_t)(param(sets) / 8 + 1);
  return (int)(((pc >> 2) + apart) & (uint32_t)(param(sets) - 1));
}

// The entry of a branch; -1: there is none.
static inline int find_entry(const self_t *self, uint32_t pc, uint32_t context) {
  const uint64_t wanted = call(tag, pc, context);
  const int first = set_of(pc, wanted) * param(ways);
  for (int way = 0; way < param(ways); way++)
    if (load(tag, first + way) == wanted) return first + way;
  return -1;
}

handler(find, n) {
  if (!some(port_query, n)) {
    send_nothing(port_known, n);
    return;
  }
  typeof_port(port_known) known;
  known.conditional = known.unconditional = 0;
  for (int i = 0; i < param(width); i++) {
    const int at = find_entry(self, data(port_query, n).pc + 4 * (uint32_t)i, data(port_query, n).context);
    known.kind[i] = branch_kind_none;
    known.target[i] = 0;
    if (__builtin_expect(at < 0, true)) continue;
    known.kind[i] = load(kind, at);
    known.target[i] = load(target, at);
    const bool conditional = known.kind[i] == branch_kind_conditional;
    known.conditional |= (uint32_t)conditional << i;
    known.unconditional |= (uint32_t)!conditional << i;
  }
  send(port_known, n, known);
}

static inline void enter(self_t *self, uint32_t pc, uint32_t context, uint32_t target, branch_kind kind) {
  int at = find_entry(self, pc, context);
  if (at < 0) {
    const int set = set_of(pc, call(tag, pc, context));
    const uint8_t way = param(ways) > 1 ? load(next, set) : 0;
    at = set * param(ways) + way;
    if (param(ways) > 1) store(next, set, (uint8_t)(way + 1 < param(ways) ? way + 1 : 0));
    store(tag, at, call(tag, pc, context));
    store(kind, at, kind);
    count(entered);
  } else if (load(target, at) == target && load(kind, at) == kind) {
    return;
  }
  store(kind, at, kind);
  store(target, at, target);
}

// A word that is no branch any more, or of another program, is not found again.
static inline void forget(self_t *self, uint32_t pc, uint32_t context) {
  const int at = find_entry(self, pc, context);
  if (at >= 0) store(tag, at, 0);
}

phase_end() {
  const uint32_t n = data(train).count;
  if (n == 0) {
    self->moved = false;
    return;
  }
  self->moved = true;
  for (uint32_t i = 0; i < n; i++) {
    if (data(train).taken[i])
      enter(self, data(train).pc[i], data(train).context[i], data(train).target[i], data(train).kind[i]);
    else if (__builtin_expect(data(train).kind[i] == branch_kind_none, false))
      forget(self, data(train).pc[i], data(train).context[i]);
  }
}

next_event() {
  return self->moved ? cycle() : unchanged(never());
}
