// memory_width.c: between memory ports of different widths; see memory_width.lss.
//
// A wider memory takes requests as they are, within the cycle.  For a narrower one they are kept and cut where
// multiples of the memory's width are; the pieces leave one in a cycle, and the replies to them add up.
#include "memory/memory_access.h"

#define NARROWS (param(to) < param(from))
#define UNIT    ((uint32_t)param(to) / 8)

static inline uint32_t slot_of(const self_t *self, uint32_t nth) {
  uint32_t slot = self->oldest + nth;
  return slot >= (uint32_t)param(held) ? slot - (uint32_t)param(held) : slot;
}

// Bytes of the piece that begins `done` bytes behind the start of a request.
static inline uint32_t piece_at(const typeof_port(in_request) * request, uint32_t done) {
  uint32_t room = UNIT - ((request->address + done) & (UNIT - 1)), left = request->size - done;
  return left < room ? left : room;
}

// Byte `at`, counted from the lowest address, of a number of `size` bytes: where it is in the number.
static inline uint32_t place_of(uint32_t at, uint32_t size) {
  return param(big_endian) ? size - 1 - at : at;
}

// The `size` bytes at `done` of a number of `whole_size` bytes, as a number.
static __attribute__((noinline)) void cut_number(void *piece, const void *whole, uint32_t done, uint32_t size,
                                                 uint32_t whole_size) {
  for (uint32_t k = 0; k < size; k++)
    ((uint8_t *)piece)[place_of(k, size)] = ((const uint8_t *)whole)[place_of(done + k, whole_size)];
}

// The slot of the request whose pieces are being sent.
static inline uint32_t slot_requested(const self_t *self) {
  return slot_of(self, self->count - self->unrequested);
}

// The next piece to ask for.  Out of line like all that is done with requests held: mostly, there is none.
static __attribute__((noinline)) typeof_port(out_request) next_piece(const self_t *self) {
  const typeof_port(in_request) *whole = &self->entry[slot_requested(self)];
  typeof_port(out_request) request = {0};
  uint32_t size = piece_at(whole, self->requested);
  request.op = whole->op;
  request.size = (uint8_t)size;
  request.sign = whole->sign && size == whole->size;
  request.tag = whole->tag;
  request.address = whole->address + self->requested;
  if (whole->op != mem_op_read) cut_number(&request.data, &whole->data, self->requested, size, whole->size);
  return request;
}

check_state() {
  if (NARROWS && self->unrequested + self->collecting > self->count)
    sim_error("more requests wait to be sent, or for their replies, than there are");
  else if (NARROWS && self->unrequested && self->requested > self->entry[slot_requested(self)].size)
    sim_error("more of a request is asked for than it has");
}

handler(space) {
  if (NARROWS) accept(in_request, self->count < (uint32_t)param(held));
}

phase_start() {
  if (!NARROWS) return;
  if (__builtin_expect(self->count == 0, 1)) {
    send_nothing(out_request);
    send_nothing(in_reply);
    return;
  }
  if (self->collecting)
    send(in_reply, self->reply[self->oldest]);
  else
    send_nothing(in_reply);
  if (self->unrequested)
    send(out_request, next_piece(self));
  else
    send_nothing(out_request);
}

handler(request) {
  if (NARROWS) return;
  if (__builtin_expect(!some(in_request), 1)) {
    send_nothing(out_request);
    return;
  }
  typeof_port(out_request)
      request = {.op = data(in_request).op, .size = data(in_request).size, .sign = data(in_request).sign};
  request.combine = data(in_request).combine;
  request.tag = data(in_request).tag;
  request.address = data(in_request).address;
  memcpy(&request.data, &data(in_request).data,
         sizeof request.data < sizeof data(in_request).data ? sizeof request.data : sizeof data(in_request).data);
  send(out_request, request);
}

handler(commit) {
  if (!NARROWS) enable(out_request, enabled(in_request));
}

handler(accept) {
  if (!NARROWS) accept(in_request, acked(out_request));
}

handler(reply) {
  if (NARROWS) return;
  if (__builtin_expect(!some(out_reply), 1)) {
    send_nothing(in_reply);
    return;
  }
  typeof_port(in_reply)
      reply = {.tag = data(out_reply).tag, .error = data(out_reply).error, .latency = data(out_reply).latency};
  memcpy(&reply.data, &data(out_reply).data,
         sizeof reply.data < sizeof data(out_reply).data ? sizeof reply.data : sizeof data(out_reply).data);
  send(in_reply, reply);
}

handler(commit_reply) {
  if (!NARROWS) enable(in_reply, enabled(out_reply));
}

// The memory has accepted the piece that was offered.
static __attribute__((noinline)) void piece_taken(self_t *self) {
  const typeof_port(in_request) *whole = &self->entry[slot_requested(self)];
  self->requested += (uint8_t)piece_at(whole, self->requested);
  count(pieces);
  if (self->requested < whole->size) return;
  self->unrequested--;
  self->requested = 0;
}

// Whether a piece has been sent whose reply has not come, the oldest being of the request in a slot.
static inline bool is_awaited(const self_t *self, uint32_t slot) {
  const uint32_t sent = self->collecting + self->unrequested < self->count ? self->entry[slot].size : self->requested;
  return self->collecting < self->count && self->replied[slot] < sent && sent <= self->entry[slot].size;
}

// The reply to the oldest piece outstanding.
static __attribute__((noinline)) void piece_replied(self_t *self, typeof_port(out_reply) reply) {
  uint32_t slot = slot_of(self, self->collecting);
  const typeof_port(in_request) *whole = &self->entry[slot];
  typeof_port(in_reply) *sum = &self->reply[slot];
  if (__builtin_expect(!is_awaited(self, slot), 0)) sim_error("the memory replied to no request");
  uint32_t done = self->replied[slot], size = piece_at(whole, done);
  sum->error |= reply.error;
  if (sum->latency < reply.latency) sum->latency = reply.latency;
  if (size == whole->size) {
    memcpy(&sum->data, &reply.data, sizeof reply.data);
    if (whole->sign) extend_sign(&sum->data, UNIT, sizeof sum->data);
  } else if (whole->op == mem_op_read) {
    for (uint32_t k = 0; k < size; k++)
      ((uint8_t *)&sum->data)[place_of(done + k, whole->size)] = ((const uint8_t *)&reply.data)[place_of(k, size)];
    if (whole->sign && done + size == whole->size) extend_sign(&sum->data, whole->size, sizeof sum->data);
  }
  self->replied[slot] += (uint8_t)size;
  self->collecting += self->replied[slot] == whole->size;
}

// A request was accepted.
static __attribute__((noinline)) void hold(self_t *self, typeof_port(in_request) request) {
  uint32_t slot = slot_of(self, self->count);
  self->entry[slot] = request;
  self->replied[slot] = 0;
  memset(&self->reply[slot], 0, sizeof self->reply[slot]);
  self->reply[slot].tag = request.tag;
  self->count++;
  self->unrequested++;
  count(requests);
  if (request.op > mem_op_write && piece_at(&request, 0) < request.size)
    sim_error("a read-modify-write of %u bytes at 0x%x does not fit into %u bytes of memory", request.size,
              request.address, UNIT);
}

// The requester has its reply.
static __attribute__((noinline)) void release_oldest(self_t *self) {
  self->freed = self->count == (uint32_t)param(held);
  self->oldest = slot_of(self, 1);
  self->count--;
  self->collecting--;
}

phase_end() {
  if (!NARROWS || __builtin_expect(self->count == 0 && !self->freed && !some(in_request), 1)) return;
  self->freed = false;
  if (transferred(out_request)) piece_taken(self);
  if (transferred(out_reply)) piece_replied(self, data(out_reply));
  if (transferred(in_reply)) release_oldest(self);
  if (transferred(in_request)) hold(self, data(in_request));
}

next_event() {
  return NARROWS && (self->count > 0 || self->freed) ? cycle() : unchanged(never());
}
