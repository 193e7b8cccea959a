// execute_unit.c: arithmetic and branches; see execute_unit.lss.

handler(show_result, i) {
  send(results, i, self->shown);
}

handler(show_done, i) {
  send(done, i, self->finished);
}

// Branches and jumps: the result is the return address.
static inline __attribute__((always_inline)) uint32_t branch(const typeof_port(in) * o, completion *done) {
  const operation c = o->op.control;
  const uint32_t behind = o->op.pc + (param(delay_slot) ? 8 : 4);
  bool taken = true;
  done->target = o->op.immediate;
  if (operation_kind(c) == operation_class_branch) {
    taken = branch_compares(operation_compare(c), o->value[0], o->value[1]);
    if (!taken) done->target = behind;
  } else if (operation_kind(c) == operation_class_indirect) {
    done->target = (o->value[0] + o->value[1] + o->op.immediate) & (param(even_targets) ? ~1u : ~0u);
  }
  bool redirects = done->target != o->op.next;
  // Fetch went on with the delay slot, which is not executed.
  if (param(delay_slot)) redirects |= operation_likely(c) && !taken;
  done->status |= completion_status_of_redirects(redirects) | completion_status_of_taken(taken);
  return behind;
}

// What chooses, multiplies or divides.
static __attribute__((noinline)) uint32_t compute_other(operation control, uint32_t a, uint32_t b, uint32_t c) {
  if (operation_kind(control) == operation_class_select)
    return branch_compares(operation_compare(control), b, 0) ? a : c;
  return product_compute(operation_product(control), a, b, c);
}

static inline __attribute__((always_inline)) uint32_t compute_one(const self_t *self, const typeof_port(in) * o,
                                                                  completion *done) {
  const operation c = o->op.control;
  if (operation_kind(c) == operation_class_alu) {
    const uint32_t b = operation_immediate(c) ? o->op.immediate : o->value[1];
    const uint32_t value = call(compute, operation_alu(c), o->value[0], b, o->op.immediate);
    if (__builtin_expect(operation_trap(c) != trap_cause_none, false))
      done->status |= completion_status_of_fault(operation_trapped(c, o->value[0], b, value));
    return value;
  }
  if (param(sources) == 2 || operation_kind(c) <= operation_class_indirect) return branch(o, done);
  return compute_other(c, o->value[0], o->value[1], o->value[param(sources) - 1]);
}

static inline bool dropped(const completion *done, const squash_order *squash) {
  return squash->valid && age_follows(done->age, squash->age, param(contexts));
}

static inline void drop(self_t *self, completion *done, result *computed) {
  if (completion_status_valid(done->status)) event(squashed);
  done->status = computed->dest = 0;
}

// What comes out of a pipeline of several cycles, in place of what goes in; whether there is anything in it.
static inline bool pass_pipeline(self_t *self, const squash_order *squash) {
  if (!completion_status_valid(self->finished.status) && self->in_flight == 0) return false;
  const result in = completion_status_valid(self->finished.status) ? self->shown : (result){.dest = 0};
  const completion entered =
      completion_status_valid(self->finished.status) ? self->finished : (completion){.status = 0};
  self->shown = self->coming[self->turn];
  self->finished = self->finishing[self->turn];
  self->coming[self->turn] = in;
  self->finishing[self->turn] = entered;
  self->turn = self->turn + 2 < (uint32_t)param(latency) ? self->turn + 1 : 0;
  self->in_flight = 0;
  for (int i = 0; i < param(latency) - 1; i++) {
    if (dropped(&self->finishing[i], squash)) drop(self, &self->finishing[i], &self->coming[i]);
    self->in_flight += completion_status_valid(self->finishing[i].status);
  }
  if (dropped(&self->finished, squash)) drop(self, &self->finished, &self->shown);
  return true;
}

phase_end() {
  self->moved = some(in) | completion_status_valid(self->finished.status);
  self->finished.status = 0;
  self->shown.dest = 0;
  if (some(in) && !(data(squash).valid && age_follows(item(in).age, data(squash).age, param(contexts)))) {
    const typeof_port(in) *o = &item(in);
    completion *done = &self->finished;
    *done = (completion){.status = completion_status_of_valid(true), .age = o->age};
    done->value = compute_one(self, o, done);
    self->shown = (result){.dest = o->dest, .value = done->value};
    count(executed);
  } else if (some(in) && data(squash).valid) {
    event(squashed);
  }
  if (param(latency) > 1) self->moved |= pass_pipeline(self, &data(squash));
}

next_event() {
  return self->moved ? cycle() : never();
}
