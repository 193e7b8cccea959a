/* instruction_buffer.c: decoded instructions that wait for renaming; see instruction_buffer.lss. */

handler(show, i) {
  send(out, i, self->ring);
}

handler(show_room, i) {
  send(room, i, self->space);
}

phase_end() {
  if (__builtin_expect(data(squash).valid, false)) {
    self->ring.count = 0;
    self->space = param(depth);
    self->moved = true;
    return;
  }
  const uint32_t taken = data(take), came = transferred(in) ? data(in).count : 0;
  if (taken == 0 && came == 0) {
    if (!self->moved) unchanged();
    self->moved = false;
    return;
  }
  self->moved = true;
  const uint32_t tail = self->ring.head + self->ring.count;
  if (self->ring.count + came > (uint32_t)param(depth))
    sim_error("an instruction buffer got more than it has room for");
  for (uint32_t i = 0; i < (uint32_t)param(width); i++) {
    if (i >= came) break;
    self->ring.op[(tail + i) & (uint32_t)(param(depth) - 1)] = data(in).op[i];
  }
  self->ring.head = (self->ring.head + taken) & (uint32_t)(param(depth) - 1);
  self->ring.count += came - taken;
  self->space = (uint32_t)param(depth) - self->ring.count;
  if (self->ring.count > self->most) report(peak, self->most = self->ring.count);
}

next_event() {
  return self->moved ? cycle() : never();
}
