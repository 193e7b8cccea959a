// sram_controller.c: timing of burst SRAM; see sram_controller.lss.
//
// Requests are accepted and requests to memories made from state alone; only the reply passes through within the cycle.

// A timing of a segment, or the controller's where the segment has none.
#define TIMING(lane, what)                                                                                             \
  (param_length(segments) > 0 && (lane) >= 0 && param(segments)[lane].what > 0 ? (uint32_t)param(segments)[lane].what  \
                                                                               : (uint32_t)param(what))

static inline sram_burst kind_of(mem_op op) {
  return op == mem_op_read ? sram_burst_reads : sram_burst_others;
}

static inline int32_t lane_of(uint32_t address, uint32_t size) {
  if (param_length(segments) == 0) return 0;
  for (int k = 0; k < param_length(segments); k++) {
    uint32_t offset = address - param(segments)[k].base;
    if (offset < param(segments)[k].size && size <= param(segments)[k].size - offset) return k;
  }
  return -1;
}

// The address at which a burst continues behind a request.
static inline uint32_t behind(const typeof_port(in_request) * request) {
  const uint32_t end = request->address + request->size, block = (uint32_t)param(block);
  return block > 0 && end % (block + !block) == 0 ? end + (uint32_t)param(stride) - block : end;
}

// Prepares the request that is now the oldest: the one before it, at `slot`, got its reply in this cycle, or there was
// none and this one was accepted in it.  Where bursts survive no idle cycle, only one with its reply just now can be
// continued, and that is still in its slot.
static inline void start(self_t *self, uint32_t slot, bool replied) {
  const typeof_port(in_request) *entry = &self->entry[self->head], *last = &self->entry[slot];
  if (__builtin_expect(entry->op >= mem_op_barrier, false)) { // all before it have their replies
    self->continues = false;
    set_stamp(due, 1);
    if (param_length(segments) > 0) self->lane = -1;
    return;
  }
  const int32_t lane = lane_of(entry->address, entry->size);
  const uint32_t limit = TIMING(lane, burst);
  const uint32_t end = param(gap) > 0 ? self->last_end : behind(last);
  const sram_burst kind = param(gap) > 0 ? self->last_kind : kind_of(last->op);
  const bool recent = param(gap) > 0 ? !passed(last_done, (uint64_t)param(gap) + 1) : replied;
  self->continues = recent & (kind_of(entry->op) == kind) & (entry->address == end) &
                    (param_length(segments) == 0 || ((lane == self->last_lane) & (lane >= 0))) &
                    (limit == 0 || self->length < limit);
  set_stamp(due, self->continues ? TIMING(lane, next_access) : TIMING(lane, first_access));
  if (param_length(segments) > 0) self->lane = lane;
}

init() {
  set_stamp(due, never());
}

// Whether lane k is the memory of the oldest request.
static inline bool is_at(const self_t *self, int k) {
  return param_length(segments) == 0 || self->lane == k;
}

phase_start() {
  accept(in_request, self->count < param(queue));
  const bool offers = passed(due, 0);
  for (int k = 0; k < width(memory_request); k++) {
    if (offers && is_at(self, k)) {
      typeof_port(memory_request) request = self->entry[self->head];
      if (param_length(segments) > 0 && param(segments)[k].relative) request.address -= param(segments)[k].base;
      send(memory_request, k, request);
    } else {
      send_nothing(memory_request, k);
    }
  }
}

handler(reply) {
  bool replied = false;
  typeof_port(in_reply) reply;
  for (int k = 0; k < width(memory_reply); k++) {
    if (!some(memory_reply, k) || !enabled(memory_reply, k)) continue;
    if (__builtin_expect(self->count == 0, false)) sim_error("a reply without a request");
    reply = item(memory_reply, k);
    replied = true;
  }
  if (param_length(segments) > 0 && self->lane < 0 && passed(due, 0)) {
    reply = (typeof_port(in_reply)){.tag = self->entry[self->head].tag,
                                    .error = self->entry[self->head].op < mem_op_barrier};
    replied = true;
  }
  if (!replied) {
    send_nothing(in_reply);
    return;
  }
  uint64_t cycles = elapsed(accepted[self->head]);
  reply.latency = cycles > 255 ? 255 : (uint8_t)cycles;
  send(in_reply, reply);
}

phase_end() {
  const uint32_t held = self->count, slot = self->head;
  if (held == 0 && !some(in_request)) return;
  const bool replied = some(in_reply), accepted = transferred(in_request);
  count(busy, held > 0);
  if (replied) {
    if (!acked(in_reply)) sim_error("the reply with tag 0x%x was refused", (unsigned)item(in_reply).tag);
    event(access, self->entry[slot].op, self->entry[slot].address, self->entry[slot].size,
          (uint32_t)(elapsed(accepted[slot])), self->continues);
    count(requests);
    count(continued, self->continues);
    if (param(burst) > 0 || param_length(segments) > 0) self->length = self->continues ? self->length + 1 : 1;
    if (param_length(segments) > 0) self->last_lane = self->lane;
    if (param(gap) > 0) {
      self->last_kind = kind_of(self->entry[slot].op);
      self->last_end = behind(&self->entry[slot]);
      set_stamp(last_done, 0);
    }
    self->head = slot + 1 == param(queue) ? 0 : slot + 1;
    set_stamp(due, never());
  } else {
    for (int k = 0; k < width(memory_request); k++)
      if (transferred(memory_request, k)) set_stamp(due, never());
  }
  if (accepted) {
    uint32_t tail = slot + held;
    if (tail >= param(queue)) tail -= param(queue);
    self->entry[tail] = item(in_request);
    set_stamp(accepted[tail], 0);
  }
  const bool own = param_length(segments) > 0 && self->lane < 0; // the reply comes from here
  if (replied && (held == param(queue) || own)) set_stamp(freed, 1);
  self->count = held + accepted - replied;
  if ((replied || held == 0) && self->count > 0) start(self, slot, replied);
}

// Cycles in which nothing but time passes are not stepped, and count all the same.
skip(n) {
  if (self->count > 0) count(busy, n);
}

next_event() {
  if (passed(freed, 0) && !passed(freed, 1)) return cycle();
  const uint64_t left = until_passed(due, 0);
  return unchanged(left == never() ? never() : cycle() + left);
}
