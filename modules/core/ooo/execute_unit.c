/* execute_unit.c: arithmetic and branches; see execute_unit.lss. */

handler(show_result, i) {
  send(results, i, self->shown);
}

handler(show_done, i) {
  send(done, i, self->finished);
}

/* Branches and jumps: the result is the return address. */
static inline uint32_t branch(const operands *o, completion *done) {
  const operation c = o->op.control;
  const uint32_t behind = o->op.pc + 4;
  done->branch = done->taken = true;
  done->target = o->op.immediate;
  if (operation_kind(c) == operation_class_branch) {
    done->taken = branch_compares(operation_compare(c), o->value[0], o->value[1]);
    if (!done->taken) done->target = behind;
  } else if (operation_kind(c) == operation_class_indirect) {
    done->target = (o->value[0] + o->op.immediate) & ~1u;
  }
  done->redirects = done->target != o->op.next;
  return behind;
}

static inline bool dropped(const completion *done, const squash_order *squash) {
  return squash->valid && place_younger(done->age, squash->age);
}

/* What comes out of a pipeline of several cycles, in place of what goes in. */
static inline void pass_pipeline(self_t *self, const squash_order *squash) {
  if (!self->finished.valid && self->in_flight == 0) return;
  const result in = self->finished.valid ? self->shown : (result){.dest = 0};
  const completion entered = self->finished.valid ? self->finished : (completion){.valid = false};
  self->shown = self->coming[self->turn];
  self->finished = self->finishing[self->turn];
  self->coming[self->turn] = in;
  self->finishing[self->turn] = entered;
  self->turn = self->turn + 2 < (uint32_t)param(latency) ? self->turn + 1 : 0;
  self->in_flight = 0;
  for (int i = 0; i < param(latency) - 1; i++) {
    if (dropped(&self->finishing[i], squash)) self->finishing[i].valid = self->coming[i].dest = 0;
    self->in_flight += self->finishing[i].valid;
  }
  if (dropped(&self->finished, squash)) self->finished.valid = self->shown.dest = 0;
}

phase_end() {
  self->moved = some(in) | self->finished.valid;
  const operation c = data(in).op.control;
  self->finished.valid = false;
  self->shown.dest = 0;
  if (some(in) && !(data(squash).valid && place_younger(item(in).age, data(squash).age))) {
    const operands *o = &item(in);
    completion *done = &self->finished;
    *done = (completion){.valid = true, .snapshot = o->op.snapshot, .age = o->age};
    const uint32_t b = operation_immediate(c) ? o->op.immediate : o->value[1];
    const bool computes = operation_kind(c) == operation_class_alu;
    done->value = computes ? call(compute, operation_alu(c), o->value[0], b) : branch(o, done);
    self->shown = (result){.dest = o->dest, .value = done->value};
    count(executed);
  }
  if (param(latency) > 1) pass_pipeline(self, &data(squash));
  if (param(latency) > 1) self->moved |= self->finished.valid | self->in_flight;
}

next_event() {
  return self->moved ? cycle() : never();
}
