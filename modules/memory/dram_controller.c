// dram_controller.c: timing of DRAM with open rows; see dram_controller.lss.
//
// Requests are accepted and requests to memories made from state alone; only the reply passes through within the cycle.
// Refreshes are counted when the next request comes, so an idle memory costs nothing.
#include <string.h>

// A timing of a segment, or the controller's where the segment has none.
#define TIMING(lane, what)                                                                                             \
  (param_length(segments) > 0 && (lane) >= 0 && param(segments)[lane].what > 0 ? (uint32_t)param(segments)[lane].what  \
                                                                               : (uint32_t)param(what))

static inline int32_t lane_of(uint32_t address, uint32_t size) {
  if (param_length(segments) == 0) return 0;
  for (int k = 0; k < param_length(segments); k++) {
    uint32_t offset = address - param(segments)[k].base;
    if (offset < param(segments)[k].size && size <= param(segments)[k].size - offset) return k;
  }
  return -1;
}

// The first cycle from `from` on in which no refresh is in progress; a refresh on the way closes every row.
static inline uint64_t after_refreshes(self_t *self, uint64_t from) {
  while (self->refresh_due <= from) {
    uint64_t end = self->refresh_due + (uint64_t)param(refresh_time);
    self->refresh_due += (uint64_t)param(refresh_interval);
    count(refreshes);
    memset(self->row_open, 0, sizeof self->row_open);
    if (end > from) from = end;
  }
  return from;
}

// Whether some burst has an end of its own.
static inline bool bursts_are_limited(void) {
  bool limited = param(burst) > 0;
  for (int k = 0; k < param_length(segments); k++) limited |= param(segments)[k].burst > 0;
  return limited;
}

// Prepares the request that is now the oldest, and came before the last reply or after it.
static __attribute__((noinline)) void start(self_t *self, bool before_reply) {
  uint32_t slot = self->head, address = self->entry[slot].address;
  if (self->entry[slot].op >= mem_op_barrier) { // all before it have their replies
    self->lane = -1;
    self->continues = false;
    self->due = cycle() + 1;
    return;
  }
  int32_t lane = lane_of(address, self->entry[slot].size);
  uint32_t number = address / TIMING(lane, row), limit = TIMING(lane, burst);
  uint32_t bank = (number & (uint32_t)(param(banks) - 1)) + (lane > 0 ? (uint32_t)(lane * param(banks)) : 0);
  bool turns = (self->entry[slot].op == mem_op_read) != (self->last_op == mem_op_read);
  uint64_t from = cycle(), cycles = 0;
  const bool refreshes = param(refresh_interval) > 0 && self->refresh_due <= from;
  if (refreshes) from = after_refreshes(self, from);
  self->lane = lane;
  self->continues = before_reply && !refreshes && !turns && address == self->last_end && self->row_open[bank] &&
                    self->row_number[bank] == number && (limit == 0 || self->length < limit);
  if (self->continues) {
    cycles = TIMING(lane, next_access);
  } else {
    cycles = TIMING(lane, access);
    if (param(close_page)) self->row_open[bank] = false;
    if (!self->row_open[bank]) {
      cycles += TIMING(lane, activate);
      count(row_misses);
    } else if (self->row_number[bank] != number) {
      cycles += TIMING(lane, precharge) + TIMING(lane, activate);
      count(row_conflicts);
    } else {
      count(row_hits);
    }
    if (!self->row_open[bank] || self->row_number[bank] != number) event(open_row, bank, number);
    if (self->any_before && turns) cycles += (uint64_t)param(turnaround);
  }
  self->row_open[bank] = true;
  self->row_number[bank] = self->row_at = number;
  self->any_before = true;
  self->due = from + cycles;
}

// Prepares the request behind the one that just got its reply.  Mostly, it is in the same row.
static inline void continue_or_start(self_t *self) {
  const typeof_port(in_request) *request = &self->entry[self->head];
  int32_t lane = lane_of(request->address, request->size);
  bool same_row = request->address == self->last_end && request->op == self->last_op &&
                  request->address / TIMING(lane, row) == self->row_at;
  if (param_length(segments) > 0) same_row = same_row && lane == self->lane;
  if (bursts_are_limited()) same_row = same_row && (TIMING(lane, burst) == 0 || self->length < TIMING(lane, burst));
  if (param(refresh_interval) > 0) same_row = same_row && cycle() < self->refresh_due;
  if (__builtin_expect(!same_row, false)) {
    start(self, true);
    return;
  }
  self->continues = true;
  self->due = cycle() + TIMING(lane, next_access);
}

init() {
  self->due = never();
  self->refresh_due = (uint64_t)param(refresh_interval);
}

// Whether lane k is the memory of the oldest request.
static inline bool is_at(const self_t *self, int k) {
  return param_length(segments) == 0 || self->lane == k;
}

handler(space) {
  accept(in_request, self->count < (uint32_t)param(queue));
}

phase_start() {
  const bool offers = cycle() >= self->due;
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
  typeof_port(in_reply) reply;
  bool replied = false;
  for (int k = 0; k < width(memory_reply); k++) {
    if (some(memory_reply, k) && enabled(memory_reply, k)) {
      if (__builtin_expect(self->count == 0, false)) sim_error("a reply without a request");
      reply = data(memory_reply, k);
      replied = true;
    }
  }
  if (param_length(segments) > 0 && self->lane < 0 && cycle() >= self->due) {
    reply = (typeof_port(in_reply)){.tag = self->entry[self->head].tag,
                                    .error = self->entry[self->head].op < mem_op_barrier};
    replied = true;
  }
  if (replied) {
    uint64_t cycles = cycle() - self->accepted[self->head];
    reply.latency = cycles > 255 ? 255 : (uint8_t)cycles;
    send(in_reply, reply);
  } else {
    send_nothing(in_reply);
  }
}

// A request was accepted; `count` are held.
static inline void enter(self_t *self, uint32_t count, typeof_port(in_request) request) {
  uint32_t slot = self->head + count;
  if (slot >= (uint32_t)param(queue)) slot -= (uint32_t)param(queue);
  self->entry[slot] = request;
  self->accepted[slot] = cycle();
  self->count = count + 1;
}

// The oldest request got its reply.
static inline void leave(self_t *self) {
  const uint32_t slot = self->head;
  const typeof_port(in_request) *request = &self->entry[slot];
  event(access, request->op, request->address, request->size, (uint32_t)(cycle() - self->accepted[slot]),
        self->continues);
  count(requests);
  count(continued, self->continues);
  count(barriers, request->op >= mem_op_barrier);
  if (bursts_are_limited()) self->length = self->continues ? self->length + 1 : 1;
  if (request->op < mem_op_barrier) self->last_op = request->op; // the others move nothing over the data bus
  self->last_end = request->address + request->size;
  self->head = slot + 1 == (uint32_t)param(queue) ? 0 : slot + 1;
}

phase_end() {
  uint32_t count = self->count;
  if (count == 0) {
    if (!transferred(in_request)) return;
    enter(self, 0, data(in_request));
    start(self, false);
    return;
  }
  count(busy);
  bool replied = some(in_reply);
  if (replied) {
    if (!acked(in_reply)) sim_error("the reply with tag 0x%x was refused", (unsigned)data(in_reply).tag);
    leave(self);
    if (count == (uint32_t)param(queue)) self->freed = cycle() + 1;
    self->count = --count;
  } else {
    for (int k = 0; k < width(memory_request); k++)
      if (transferred(memory_request, k)) self->due = never();
  }
  if (transferred(in_request)) enter(self, count++, data(in_request));
  if (!replied) return;
  if (count > 0)
    continue_or_start(self);
  else
    self->due = never();
}

// Cycles in which nothing but time passes are not stepped, and count all the same.
skip(n) {
  if (self->count > 0) count(busy, n);
}

next_event() {
  if (self->freed == cycle()) return cycle();
  return self->due > cycle() ? self->due : cycle();
}
