// disk_source.c: makes requests of a disk; see disk_source.lss.

init() {
  random_seed(&self->rng);
}

static bool has_more(const self_t *self) {
  return param(count) < 0 || self->made < (uint64_t)param(count);
}

// The next request, and whether it may be offered.
static void make(self_t *self, uint64_t sectors) {
  if (!self->have && has_more(self) && sectors) {
    self->next = call(generate, self->made++, random_bits(&self->rng), sectors, (uint64_t)param(step));
    self->have = true;
    self->is_offered = false;
  }
  if (!self->have || self->is_offered || until(due) > 1 || self->written < self->written_end ||
      self->waiting >= (uint32_t)param(outstanding))
    return;
  while (self->used[self->tag]) self->tag = (self->tag + 1) % 1024;
  self->next.tag = self->tag;
  self->is_offered = true;
  set_stamp(offered, 1);
}

check_state() {
  uint32_t used = 0;
  for (int k = 0; k < 1024; k++) used += self->used[k];
  if (used != self->waiting)
    sim_error("%u requests wait, and %u tags are used", (unsigned)self->waiting, (unsigned)used);
}

phase_start() {
  disk_sector sector = {.abandon = false};
  uint64_t words[64];
  for (int k = 0; k < 64; k++) words[k] = self->written;
  memcpy(&sector.bytes, words, sizeof words);
  send_if(disk_request, self->is_offered, self->next);
  send_if(disk_data, self->written < self->written_end, sector);
}

static void follow_request(self_t *self) {
  const disk_request request = self->next;
  count(requests);
  store(request_of, request.tag, request);
  copy_stamp(since[request.tag], offered);
  self->used[request.tag] = true;
  self->waiting++;
  self->have = self->is_offered = false;
  set_until(due, (uint64_t)param(interval) + 1);
  if (request.op != disk_op_write) return;
  self->written = request.sector;
  self->written_end = request.sector + request.count;
}

static void take_reply(self_t *self, const disk_reply *reply) {
  if (reply->tag >= 1024) sim_error("the disk replies to request %u, which does not exist", (unsigned)reply->tag);
  const disk_request request = load(request_of, reply->tag);
  count(sectors, request.op == disk_op_read && !reply->error);
  if (!reply->last) return;
  const uint64_t cycles = elapsed(since[reply->tag]);
  count(replies);
  count(errors, reply->error);
  count(sectors, request.op == disk_op_write && !reply->error ? request.count : 0);
  count(response, cycles);
  event(ended, (uint8_t)request.op, request.sector, request.count, cycles);
  self->used[reply->tag] = false;
  self->waiting--;
  sim_progress();
  if (!self->waiting && !self->have && !has_more(self)) sim_exit(0, "all requests are done");
}

phase_end() {
  const bool any = transferred(disk_request) | transferred(disk_data) | transferred(disk_reply);
  const bool was_offered = self->is_offered;
  if (transferred(disk_request)) follow_request(self);
  if (transferred(disk_data) && ++self->written == self->written_end) self->written = self->written_end = 0;
  if (transferred(disk_reply)) take_reply(self, &data(disk_reply));
  make(self, data(disk_sectors));
  if (any || was_offered != self->is_offered) set_until(shown_until, 2);
}

next_event() {
  if (until(shown_until)) return cycle();
  const bool waits = self->have && !self->is_offered && self->waiting < (uint32_t)param(outstanding);
  return unchanged(waits ? after(until(due) > 1 ? until(due) - 1 : 0) : never());
}
