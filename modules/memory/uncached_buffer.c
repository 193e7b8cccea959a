// uncached_buffer.c: uncached writes on their way; see uncached_buffer.lss.
#include "memory/memory_access.h"
#include "memory/memory_error.h"

#define BLOCK     ((uint32_t)param(block))
#define OUT_BYTES ((uint32_t)param(out_width) / 8)
#define ALL_BYTES (BLOCK == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (BLOCK & 63)) - 1)

init() {
  MEMORY_ERROR_CHOOSE();
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

static inline uint32_t youngest(const self_t *self) {
  return (self->head + self->used - 1) % (uint32_t)param(entries);
}

static inline bool may_combine(bool marked) {
  return param(combine) == store_combining_all || (param(combine) == store_combining_marked && marked);
}

static inline uint64_t bytes_of(uint32_t address, uint32_t size) {
  return ((UINT64_C(1) << size) - 1) << address % BLOCK;
}

// Whether an entry waits for more.
static inline bool open(const self_t *self, uint32_t slot) {
  return self->joinable[slot] && self->written[slot] != ALL_BYTES;
}

// Whether a write joins the one before it.
static inline bool joins(const self_t *self, uint32_t address, bool marked) {
  const uint32_t last = youngest(self);
  return self->used && may_combine(marked) && open(self, last) && self->address[last] == address / BLOCK * BLOCK;
}

check_state() {
  for (uint32_t k = 0; k < (uint32_t)param(entries); k++) {
    const uint32_t slot = (self->head + k) % (uint32_t)param(entries);
    if (k < self->used && !self->written[slot]) sim_error("a write of no bytes waits");
    if (self->written[slot] & ~ALL_BYTES) sim_error("a write waits of bytes beyond a block");
  }
}

handler(judge) {
  uncached_outcome outcome = uncached_outcome_none;
  if (some(in_request)) {
    const mem_op op = item(in_request).op;
    if (op != mem_op_write || self->on_error == memory_error_action_bus_error)
      outcome = self->used || self->outstanding || self->passing ? uncached_outcome_waits : uncached_outcome_passes;
    else if (self->passing)
      outcome = uncached_outcome_waits;
    else if (joins(self, item(in_request).address, item(in_request).combine))
      outcome = uncached_outcome_joins;
    else
      outcome = self->used < (uint32_t)param(entries) ? uncached_outcome_enters : uncached_outcome_full;
  }
  set(outcome, outcome);
}

// Whether the oldest entry may leave: it is alone with its block, or nothing will join it any more.
static inline bool leaves(const self_t *self, uncached_outcome outcome) {
  if (!self->used || self->outstanding == (uint32_t)param(most_outstanding)) return false;
  if (self->used > 1 || !open(self, self->head)) return true;
  return outcome == uncached_outcome_waits || outcome == uncached_outcome_enters || outcome == uncached_outcome_full ||
         (outcome != uncached_outcome_joins && within(held, 0));
}

// The first run of bytes of the oldest entry that leaves as one write.
static inline uint32_t first_run(const self_t *self, uint32_t *from) {
  const uint64_t written = self->written[self->head];
  *from = (uint32_t)__builtin_ctzll(written);
  const uint32_t end = *from / OUT_BYTES * OUT_BYTES + OUT_BYTES;
  uint32_t size = 1;
  while (*from + size < end && *from + size < BLOCK && (written >> (*from + size) & 1)) size++;
  return size;
}

// The write that leaves next, and what of a request that passes: out of line, since mostly there is neither.
static __attribute__((noinline)) typeof_port(out_request) departing(const self_t *self) {
  typeof_port(out_request) request = {.op = mem_op_write};
  uint32_t from;
  request.size = (uint8_t)first_run(self, &from);
  request.address = self->address[self->head] + from;
  request.tag = self->next_left;
  memory_to_number(&request.data, &self->bytes[self->head * BLOCK + from], request.size, param(big_endian));
  return request;
}

static __attribute__((noinline)) typeof_port(out_request) passing(typeof_port(in_request) from) {
  typeof_port(out_request)
      request = {.op = from.op, .size = from.size, .sign = from.sign, .tag = from.tag, .address = from.address};
  memcpy(&request.data, &from.data, sizeof from.data);
  return request;
}

handler(offer) {
  if (__builtin_expect(!self->used && get(outcome) != uncached_outcome_passes, true)) {
    send_nothing(out_request);
    return;
  }
  if (leaves(self, get(outcome)))
    send(out_request, departing(self));
  else if (get(outcome) == uncached_outcome_passes)
    send(out_request, passing(item(in_request)));
  else
    send_nothing(out_request);
}

handler(commit) {
  enable(out_request, get(outcome) != uncached_outcome_passes || enabled(in_request));
}

static inline bool buffers(uncached_outcome outcome) {
  return outcome == uncached_outcome_joins || outcome == uncached_outcome_enters;
}

handler(accept) {
  accept(in_request, buffers(get(outcome)) || (get(outcome) == uncached_outcome_passes && acked(out_request)));
}

handler(reply) {
  if (__builtin_expect(get(outcome) == uncached_outcome_none && !some(out_reply), true)) {
    send_nothing(in_reply);
    enable(in_reply, true);
    return;
  }
  typeof_port(in_reply) reply = {0};
  bool any = true, committed = true;
  if (buffers(get(outcome))) {
    reply.tag = item(in_request).tag;
    committed = enabled(in_request);
  } else if (some(out_reply) && (self->passing || get(outcome) == uncached_outcome_passes)) {
    reply.tag = item(out_reply).tag, reply.error = item(out_reply).error, reply.latency = item(out_reply).latency;
    memcpy(&reply.data, &item(out_reply).data, sizeof reply.data);
    committed = enabled(out_reply);
  } else {
    any = false;
  }
  send_if(in_reply, any, reply);
  enable(in_reply, committed);
}

// The first run of the oldest entry has left.
static inline void depart(self_t *self, uint32_t address, uint32_t size) {
  count(departures);
  event(sent, address, (uint8_t)size);
  self->outstanding++;
  self->left_address[self->next_left] = address;
  self->next_left = (self->next_left + 1) % (uint32_t)param(most_outstanding);
  self->joinable[self->head] = false;
  self->written[self->head] &= ~bytes_of(address, size);
  if (self->written[self->head]) return;
  self->head = (self->head + 1) % (uint32_t)param(entries);
  self->used--;
}

static inline void keep(self_t *self, const typeof_port(in_request) * request, bool joins) {
  count(writes);
  if (joins) {
    count(joined);
    event(combined, request->address);
  } else {
    self->used++;
    const uint32_t slot = youngest(self);
    self->address[slot] = request->address / BLOCK * BLOCK;
    self->written[slot] = 0;
    self->joinable[slot] = may_combine(request->combine);
  }
  const uint32_t slot = youngest(self), at = request->address % BLOCK;
  self->written[slot] |= bytes_of(request->address, request->size);
  number_to_memory(&self->bytes[slot * BLOCK + at], &request->data, request->size, param(big_endian));
  set_until(held, param(hold));
}

static __attribute__((noinline)) void lose_write(self_t *self, uint32_t address) {
  MEMORY_ERROR("a write failed: nothing responds at address 0x%08x", (unsigned)address);
}

static inline void note_reply(self_t *self, uint32_t tag, bool error) {
  if (self->passing) {
    self->passing = false;
    return;
  }
  if (__builtin_expect(error, false)) lose_write(self, self->left_address[tag]);
  self->outstanding--;
}

phase_end() {
  if (__builtin_expect(!self->used && !some(in_request) && !some(out_reply), true)) return;
  if (get(outcome) == uncached_outcome_full) count(refusals);
  const typeof_port(in_request) request = data(in_request);
  const bool accepted = transferred(in_request);
  if (accepted && buffers(get(outcome)) && request.address % BLOCK + request.size > BLOCK)
    sim_error("a request of %d bytes at 0x%08x crosses a block of %d bytes", (int)request.size,
              (unsigned)request.address, (int)param(block));
  if (transferred(out_request)) {
    if (get(outcome) == uncached_outcome_passes)
      self->passing = true;
    else
      depart(self, data(out_request).address, data(out_request).size);
  }
  if (transferred(out_reply)) note_reply(self, data(out_reply).tag, data(out_reply).error);
  if (transferred(out_request) || transferred(out_reply) || accepted) set_until(moves_on, 2);
  if (accepted && buffers(get(outcome))) keep(self, &request, get(outcome) == uncached_outcome_joins);
}

next_event() {
  if (until(moves_on)) return cycle();
  if (!self->used) return never();
  if (self->used == (uint32_t)param(entries)) return cycle(); // what it refuses is counted
  return self->used == 1 && open(self, self->head) ? unchanged(after(until(held))) : unchanged();
}
