// memory_router.c: one stream of requests over several targets; see memory_router.lss.
#include "memory/memory_router.h"

#define CLASSES (param_length(tracked_sizes))

phase_start() {
  if (width(notify)) send_if(notify, self->notified != 0, self->notified);
  if (__builtin_expect(!self->any_snoop_hit, 1)) {
    send_nothing(snooped);
    return;
  }
  int k = 0;
  while (k < CLASSES - 1 && !self->snoop_hit[k]) k++;
  send(snooped,
       ((mem_snoop){.address = self->tracked_address[k], .size = CLASSES ? (uint32_t)param(tracked_sizes)[k] : 0}));
}

// A write of `size` bytes at the target's `address`; `own_class` is the class and `own_address` the requester's address
// when it is the requester's own, else -1.
static void note_write(self_t *self, uint32_t address, uint32_t size, int own_class, uint32_t own_address) {
  for (int k = 0; k < CLASSES; k++) {
    uint32_t block = (uint32_t)param(tracked_sizes)[k];
    // The last byte written is in the block, or less than `size` behind it; what is before it wraps around to more.
    if (__builtin_expect(address + size - 1 - self->tracked_target_address[k] >= block + size - 1, 1) ||
        !self->tracking[k])
      continue;
    if (own_class == k && (own_address & ~(block - 1)) == self->tracked_address[k]) continue;
    self->snoop_hit[k] = self->any_snoop_hit = true;
  }
}

// A barrier is sent to one target after the other; nothing else is outstanding meanwhile.
static __attribute__((noinline)) typeof_port(in_request) barrier_of(const self_t *self) {
  return (typeof_port(in_request)){.op = mem_op_barrier, .size = 1, .tag = self->refused_tag};
}

handler(forward) {
  if (__builtin_expect(!some(in_request) || self->waiting < 0, 1)) {
    const bool sends = self->waiting == ROUTER_BARRIER && !self->barrier_sent;
    if (__builtin_expect(sends, 0)) {
      const typeof_port(in_request) barrier = barrier_of(self);
      for (int i = 0; i < width(out_request); i++) send_if(out_request, i, self->barrier == i, barrier);
    } else {
      for (int i = 0; i < width(out_request); i++) send_nothing(out_request, i);
    }
    set(target, ROUTER_WAIT);
    set(byte_swap, false);
    return;
  }
  typeof_port(in_request) request = item(in_request);
  uint32_t values[width(context) + 1];
  for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? item(context, i) : 0;
  uint64_t contexts = (uint64_t)(uintptr_t)values;
  int to = ROUTER_WAIT, lane = call(route, contexts, request.address, request.op != mem_op_read);
  if (__builtin_expect(request.op == mem_op_barrier, 0)) lane = -1;
  const bool swap = request.size % 4 == 0 && call(byte_swapped, contexts, request.address);
  if (self->waiting < param(outstanding) &&
      (self->waiting == 0 || lane + (swap ? ROUTER_BYTE_SWAPPED : 0) == self->current)) {
    to = lane == ROUTE_NOTHING ? ROUTER_ZERO : lane < 0 || lane >= width(out_request) ? ROUTER_UNMAPPED : lane;
    if (swap) router_byte_swap(&request.data, sizeof request.data);
    if (to >= 0) request.address = call(map, contexts, request.address);
  }
  for (int i = 0; i < width(out_request); i++) send_if(out_request, i, i == to, request);
  set(target, to);
  set(byte_swap, swap);
}

handler(commit) {
  for (int i = 0; i < width(out_request); i++)
    enable(out_request, i, (self->waiting == ROUTER_BARRIER) | enabled(in_request));
}

handler(accept) {
  if (__builtin_expect(get(target) == ROUTER_WAIT, 1)) {
    accept(in_request, false);
    return;
  }
  bool taken = get(target) < 0;
  for (int i = 0; i < width(out_request); i++) taken |= i == get(target) && acked(out_request, i);
  accept(in_request, taken);
}

handler(reply) {
  bool none = self->waiting == 0;
  if (param(same_cycle_reply) && none)
    for (int i = 0; i < width(out_reply); i++) none &= !some(out_reply, i);
  if (__builtin_expect(none, 1)) {
    send_nothing(in_reply);
    return;
  }
  if (__builtin_expect(self->waiting == ROUTER_BARRIER, 0)) {
    send_nothing(in_reply);
    return;
  }
  typeof_port(in_reply) reply;
  bool any = false;
  for (int i = 0; i < width(out_reply); i++) {
    if (!some(out_reply, i) || !enabled(out_reply, i)) continue;
    reply = item(out_reply, i);
    any = true;
  }
  if (__builtin_expect(self->waiting < 0, 0)) {
    reply = (typeof_port(in_reply)){.tag = self->refused_tag, .error = self->refused};
    any = true;
  }
  if (any && !param(same_cycle_reply) && __builtin_expect(self->current >= ROUTER_BYTE_SWAPPED, 0))
    router_byte_swap(&reply.data, sizeof reply.data);
  if (any)
    send(in_reply, reply);
  else
    send_nothing(in_reply);
}

// The effect of a request to the tracked target on the blocks that the requester holds.
static void track(self_t *self, uint32_t tag, uint32_t here, uint32_t there, uint32_t size, bool write) {
  int k = (int)(tag % (uint32_t)(CLASSES ? CLASSES : 1));
  uint32_t block = CLASSES ? (uint32_t)param(tracked_sizes)[k] : 1;
  if (write) {
    note_write(self, there, size, k, here);
  } else if (!self->tracking[k] || self->tracked_address[k] != (here & ~(block - 1))) {
    self->tracking[k] = true;
    self->tracked_address[k] = here & ~(block - 1);
    self->tracked_target_address[k] = there - (here - self->tracked_address[k]);
    self->snoop_hit[k] = false;
  }
}

// The block that was passed on, that of the lowest class, is not held any more.
static __attribute__((noinline)) void forget_snoop_hit(self_t *self) {
  self->any_snoop_hit = false;
  for (int k = 0; k < CLASSES; k++) {
    if (!self->snoop_hit[k]) continue;
    self->snoop_hit[k] = false;
    self->tracking[k] = false;
    for (int rest = k + 1; rest < CLASSES; rest++) self->any_snoop_hit |= self->snoop_hit[rest];
    break;
  }
}

// The target's reply to the oldest request was delivered.
static inline void complete(self_t *self) {
  if (self->waiting <= 0) return;
  self->waiting--;
  self->replied = true;
  if (!width(notify)) return;
  self->notified = self->notifications[self->oldest];
  self->oldest = self->waiting == 0 || self->oldest + 1 == param(outstanding) ? 0 : self->oldest + 1;
}

// The barrier at a target ends with its reply; behind the last one, the requester gets its own.
static __attribute__((noinline)) void continue_barrier(self_t *self, bool sent, bool replied) {
  self->barrier_sent |= sent;
  if (!replied) return;
  self->barrier_sent = false;
  if (++self->barrier < width(out_request)) return;
  self->waiting = ROUTER_REPLIES;
  self->refused = false;
}

phase_end() {
  if (width(snooped)) {
    if (__builtin_expect(self->any_snoop_hit, 0) && transferred(snooped)) forget_snoop_hit(self);
    for (int i = 0; i < width(snoop); i++)
      if (__builtin_expect(some(snoop, i), 0) && !call(is_own_write, item(snoop, i).tag))
        note_write(self, item(snoop, i).address, item(snoop, i).size, -1, 0);
  }
  if (width(notify)) self->notified = 0;
  self->replied = false;
  const bool idle = self->waiting == 0;
  if (!idle) {
    if (__builtin_expect(self->waiting == ROUTER_BARRIER, 0)) {
      bool sent = false, replied = false;
      for (int i = 0; i < width(out_request); i++) {
        sent |= transferred(out_request, i);
        replied |= transferred(out_reply, i);
      }
      continue_barrier(self, sent, replied);
      return;
    }
    if (self->waiting < 0) {
      self->waiting = 0;
      self->replied = true;
    }
    for (int i = 0; i < width(out_reply); i++)
      if (transferred(out_reply, i)) complete(self);
  }
  if (__builtin_expect(!transferred(in_request), 1)) return;
  typeof_port(in_request) request = item(in_request);
  bool write = request.op != mem_op_read;
  count(requests);
  if (__builtin_expect(get(target) < 0, 0)) {
    self->refused_tag = request.tag;
    if (request.op == mem_op_barrier) {
      self->waiting = ROUTER_BARRIER;
      self->barrier = 0;
      return;
    }
    self->waiting = ROUTER_REPLIES;
    self->refused = get(target) == ROUTER_UNMAPPED;
    if (!self->refused) return;
    count(errors);
    event(unmapped, request.address, write);
    return;
  }
  if (width(snooped) && request.op <= mem_op_write && get(target) == param(tracked_lane))
    track(self, request.tag, request.address, item(out_request, param(tracked_lane)).address, request.size, write);
  if (width(notify)) {
    uint32_t values[width(context) + 1];
    for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? item(context, i) : 0;
    const uint64_t contexts = (uint64_t)(uintptr_t)values;
    int place = self->oldest + self->waiting;
    self->notifications[place >= param(outstanding) ? place - param(outstanding) : place] =
        call(notification, contexts, request.address, write);
  }
  self->waiting++;
  self->current = get(target) + (get(byte_swap) ? ROUTER_BYTE_SWAPPED : 0);
  if (!idle) return;
  for (int i = 0; i < width(out_reply); i++) {
    if (!transferred(out_reply, i)) continue;
    if (!param(same_cycle_reply))
      sim_error("target %d replies in the cycle of the request: set same_cycle_reply = true", i);
    complete(self);
  }
}

next_event() {
  for (int k = 0; k < CLASSES; k++)
    if (self->snoop_hit[k]) return cycle();
  return self->waiting < 0 || self->notified || self->replied ? cycle() : unchanged(never());
}
