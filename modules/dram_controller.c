/* dram_controller.c: timing of DRAM with open rows; see dram_controller.lss.
 *
 * Requests are accepted and memories asked from state alone; only the answer passes through within the cycle. Refreshes
 * are counted when the next reference comes, so an idle memory costs nothing. */
#include <string.h>

/* A timing of a segment, or the controller's where the segment has none. */
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

/* The first cycle from `from` on in which no refresh is under way; a refresh on the way closes every row. */
static inline uint64_t after_refreshes(self_t *self, uint64_t from) {
  if (param(refresh_interval) == 0) return from;
  while (self->refresh_due <= from) {
    uint64_t end = self->refresh_due + (uint64_t)param(refresh_time);
    self->refresh_due += (uint64_t)param(refresh_interval);
    self->refreshes++;
    self->in_burst = false;
    memset(self->row_open, 0, sizeof self->row_open);
    if (end > from) from = end;
  }
  return from;
}

/* Prepares the reference that is now the oldest. */
static inline void start(self_t *self) {
  uint32_t slot = self->head;
  uint64_t accepted = self->accepted[slot];
  uint32_t address = self->entry[slot].address;
  int32_t lane = lane_of(address, self->entry[slot].size);
  uint32_t number = address / TIMING(lane, row), limit = TIMING(lane, burst);
  uint32_t bank = (number & (uint32_t)(param(banks) - 1)) + (lane > 0 ? (uint32_t)(lane * param(banks)) : 0);
  bool reads = self->entry[slot].op == mem_op_read;
  uint64_t from = self->last_done > accepted ? self->last_done : accepted;
  from = after_refreshes(self, from);
  self->lane = lane;
  self->continues = self->in_burst && reads == self->last_reads && address == self->last_end &&
                    accepted <= self->last_done && self->row_open[bank] && self->row_number[bank] == number &&
                    (limit == 0 || self->length < limit);
  uint64_t cycles = 0;
  if (self->continues) {
    cycles = TIMING(lane, next_access);
  } else {
    cycles = TIMING(lane, access);
    if (param(close_page)) self->row_open[bank] = false;
    if (!self->row_open[bank]) {
      cycles += TIMING(lane, activate);
      self->row_misses++;
    } else if (self->row_number[bank] != number) {
      cycles += TIMING(lane, precharge) + TIMING(lane, activate);
      self->row_conflicts++;
    } else {
      self->row_hits++;
    }
    if (!self->row_open[bank] || self->row_number[bank] != number) event(open_row, bank, number);
    if (self->any_before && reads != self->last_reads) cycles += (uint64_t)param(turnaround);
  }
  self->row_open[bank] = true;
  self->row_number[bank] = number;
  self->due = from + cycles;
}

init() {
  self->due = never();
  self->refresh_due = (uint64_t)param(refresh_interval);
}

/* Whether lane k is the memory of the oldest reference. */
static inline bool is_at(const self_t *self, int k) { return param_length(segments) == 0 || self->lane == k; }

phase_start() {
  accept(in_request, self->count < (uint32_t)param(queue));
  const bool asks = cycle() >= self->due;
  for (int k = 0; k < width(memory_request); k++) {
    if (asks && is_at(self, k)) {
      typeof_port(memory_request) request = self->entry[self->head];
      if (param_length(segments) > 0 && param(segments)[k].relative) request.address -= param(segments)[k].base;
      send(memory_request, k, request);
    } else {
      send_nothing(memory_request, k);
    }
  }
}

handler(answer) {
  typeof_port(in_reply) reply;
  bool answered = false;
  for (int k = 0; k < width(memory_reply); k++) {
    if (some(memory_reply, k) && enabled(memory_reply, k)) {
      if (__builtin_expect(self->count == 0, false)) sim_error("an answer without a request");
      reply = data(memory_reply, k);
      answered = true;
    }
  }
  if (param_length(segments) > 0 && self->lane < 0 && cycle() >= self->due) {
    reply = (typeof_port(in_reply)){.tag = self->entry[self->head].tag, .error = true};
    answered = true;
  }
  if (answered) {
    uint64_t cycles = cycle() - self->accepted[self->head];
    reply.latency = cycles > 255 ? 255 : (uint8_t)cycles;
    send(in_reply, reply);
  } else {
    send_nothing(in_reply);
  }
}

phase_end() {
  bool was_empty = self->count == 0, next = false;
  if (was_empty && !some(in_request)) return;
  if (!was_empty) self->busy++;
  for (int k = 0; k < width(memory_request); k++)
    if (transferred(memory_request, k)) self->due = never();
  if (some(in_reply)) {
    if (!acked(in_reply)) sim_error("the answer with tag 0x%x was refused", (unsigned)data(in_reply).tag);
    uint32_t slot = self->head;
    event(reference, self->entry[slot].op, self->entry[slot].address, self->entry[slot].size,
          (uint32_t)(cycle() - self->accepted[slot]), self->continues);
    self->references++;
    self->continued += self->continues;
    self->length = self->continues ? self->length + 1 : 1;
    self->in_burst = self->any_before = true;
    self->last_reads = self->entry[slot].op == mem_op_read;
    self->last_end = self->entry[slot].address + self->entry[slot].size;
    self->last_done = cycle();
    self->head = slot + 1 == (uint32_t)param(queue) ? 0 : slot + 1;
    self->count--;
    self->due = never();
    next = true;
  }
  if (transferred(in_request)) {
    uint32_t slot = self->head + self->count;
    if (slot >= (uint32_t)param(queue)) slot -= (uint32_t)param(queue);
    self->entry[slot] = data(in_request);
    self->accepted[slot] = cycle();
    self->count++;
  }
  if (self->count > 0 && (next || was_empty)) start(self);
}

next_event() { return self->due > cycle() ? self->due : cycle(); }

#undef TIMING
