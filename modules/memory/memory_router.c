// memory_router.c: one stream of requests over several targets; see memory_router.lss.
#include "memory/memory_router.h"

#define CLASSES (param_length(watched_bytes))

phase_start() {
  if (width(notice)) send_if(notice, self->told != 0, self->told);
  if (__builtin_expect(!self->any_touched, 1)) {
    send_nothing(snooped);
    return;
  }
  int k = 0;
  while (k < CLASSES - 1 && !self->touched[k]) k++;
  send(snooped,
       ((mem_snoop){.address = self->watched_here[k], .size = CLASSES ? (uint32_t)param(watched_bytes)[k] : 0}));
}

// A write of `size` bytes at the target's `address`; `own_class` is the class and `own_here` the requester's address
// when it is the requester's own, else -1.
static void note_write(self_t *self, uint32_t address, uint32_t size, int own_class, uint32_t own_here) {
  for (int k = 0; k < CLASSES; k++) {
    uint32_t block = (uint32_t)param(watched_bytes)[k];
    // The last byte written lies in the block, or less than `size` behind it; what lies before it wraps around to more.
    if (__builtin_expect(address + size - 1 - self->watched_there[k] >= block + size - 1, 1) || !self->watching[k])
      continue;
    if (own_class == k && (own_here & ~(block - 1)) == self->watched_here[k]) continue;
    self->touched[k] = self->any_touched = true;
  }
}

// A barrier visits the targets one after the other; nothing else is under way meanwhile.
static inline typeof_port(in_request) barrier_of(const self_t *self) {
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
    set(target, ROUTER_NOT_NOW);
    set(exchanges, false);
    return;
  }
  typeof_port(in_request) request = item(in_request);
  uint32_t values[width(context) + 1];
  for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? item(context, i) : 0;
  uint64_t contexts = (uint64_t)(uintptr_t)values;
  int to = ROUTER_NOT_NOW, lane = call(route, contexts, request.address, request.op != mem_op_read);
  if (__builtin_expect(request.op == mem_op_barrier, 0)) lane = -1;
  const bool turns = request.size % 4 == 0 && call(exchanged, contexts, request.address);
  if (self->waiting < param(outstanding) &&
      (self->waiting == 0 || lane + (turns ? ROUTER_EXCHANGES : 0) == self->current)) {
    to = lane == ROUTE_NOTHING ? ROUTER_ZERO : lane < 0 || lane >= width(out_request) ? ROUTER_NOBODY : lane;
    if (turns) router_exchange(&request.data, sizeof request.data);
    if (to >= 0) request.address = call(map, contexts, request.address);
  }
  for (int i = 0; i < width(out_request); i++) send_if(out_request, i, i == to, request);
  set(target, to);
  set(exchanges, turns);
}

handler(commit) {
  for (int i = 0; i < width(out_request); i++)
    enable(out_request, i, (self->waiting == ROUTER_BARRIER) | enabled(in_request));
}

handler(answer) {
  if (__builtin_expect(get(target) == ROUTER_NOT_NOW, 1)) {
    accept(in_request, false);
    return;
  }
  bool taken = get(target) < 0;
  for (int i = 0; i < width(out_request); i++) taken |= i == get(target) && acked(out_request, i);
  accept(in_request, taken);
}

handler(back) {
  bool none = self->waiting == 0;
  if (param(at_once) && none)
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
  if (any && !param(at_once) && __builtin_expect(self->current >= ROUTER_EXCHANGES, 0))
    router_exchange(&reply.data, sizeof reply.data);
  if (any)
    send(in_reply, reply);
  else
    send_nothing(in_reply);
}

// What a request that goes to the watched target means for the blocks that the requester holds.
static void watch(self_t *self, uint32_t tag, uint32_t here, uint32_t there, uint32_t size, bool write) {
  int k = (int)(tag % (uint32_t)(CLASSES ? CLASSES : 1));
  uint32_t block = CLASSES ? (uint32_t)param(watched_bytes)[k] : 1;
  if (write) {
    note_write(self, there, size, k, here);
  } else if (!self->watching[k] || self->watched_here[k] != (here & ~(block - 1))) {
    self->watching[k] = true;
    self->watched_here[k] = here & ~(block - 1);
    self->watched_there[k] = there - (here - self->watched_here[k]);
    self->touched[k] = false;
  }
}

// The block that was passed on, that of the lowest class, is not held any more.
static __attribute__((noinline)) void forget_touched(self_t *self) {
  self->any_touched = false;
  for (int k = 0; k < CLASSES; k++) {
    if (!self->touched[k]) continue;
    self->touched[k] = false;
    self->watching[k] = false;
    for (int rest = k + 1; rest < CLASSES; rest++) self->any_touched |= self->touched[rest];
    break;
  }
}

// The target's answer to the oldest request has gone on.
static inline void settle(self_t *self) {
  if (self->waiting <= 0) return;
  if (width(notice)) self->told = self->notices[self->oldest];
  self->oldest = self->oldest + 1 == param(outstanding) ? 0 : self->oldest + 1;
  self->waiting--;
}

// The barrier's turn at a target ends with its answer; behind the last one, the requester has its own.
static __attribute__((noinline)) void go_on_with_barrier(self_t *self, bool sent, bool answered) {
  self->barrier_sent |= sent;
  if (!answered) return;
  self->barrier_sent = false;
  if (++self->barrier < width(out_request)) return;
  self->waiting = ROUTER_ANSWERS;
  self->refused = false;
}

phase_end() {
  if (width(snooped)) {
    if (__builtin_expect(self->any_touched, 0) && transferred(snooped)) forget_touched(self);
    for (int i = 0; i < width(snoop); i++)
      if (__builtin_expect(some(snoop, i), 0) && !call(own, item(snoop, i).tag))
        note_write(self, item(snoop, i).address, item(snoop, i).size, -1, 0);
  }
  if (width(notice)) self->told = 0;
  const bool idle = self->waiting == 0;
  if (!idle) {
    if (__builtin_expect(self->waiting == ROUTER_BARRIER, 0)) {
      bool sent = false, answered = false;
      for (int i = 0; i < width(out_request); i++) {
        sent |= transferred(out_request, i);
        answered |= transferred(out_reply, i);
      }
      go_on_with_barrier(self, sent, answered);
      return;
    }
    if (self->waiting < 0) self->waiting = 0;
    for (int i = 0; i < width(out_reply); i++)
      if (transferred(out_reply, i)) settle(self);
  }
  if (__builtin_expect(!transferred(in_request), 1)) return;
  typeof_port(in_request) request = item(in_request);
  bool write = request.op != mem_op_read;
  self->requests++;
  if (__builtin_expect(get(target) < 0, 0)) {
    self->refused_tag = request.tag;
    if (request.op == mem_op_barrier) {
      self->waiting = ROUTER_BARRIER;
      self->barrier = 0;
      return;
    }
    self->waiting = ROUTER_ANSWERS;
    self->refused = get(target) == ROUTER_NOBODY;
    if (!self->refused) return;
    self->errors++;
    event(unmapped, request.address, write);
    return;
  }
  if (width(snooped) && request.op <= mem_op_write && get(target) == param(watched_lane))
    watch(self, request.tag, request.address, item(out_request, param(watched_lane)).address, request.size, write);
  if (width(notice)) {
    uint32_t values[width(context) + 1];
    for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? item(context, i) : 0;
    const uint64_t contexts = (uint64_t)(uintptr_t)values;
    int place = self->oldest + self->waiting;
    self->notices[place >= param(outstanding) ? place - param(outstanding) : place] =
        call(noticed, contexts, request.address, write);
  }
  self->waiting++;
  self->current = get(target) + (get(exchanges) ? ROUTER_EXCHANGES : 0);
  if (!idle) return;
  for (int i = 0; i < width(out_reply); i++) {
    if (!transferred(out_reply, i)) continue;
    if (!param(at_once)) sim_error("target %d answers a request in its own cycle: set at_once = true", i);
    settle(self);
  }
}

next_event() {
  for (int k = 0; k < CLASSES; k++)
    if (self->touched[k]) return cycle();
  return self->waiting < 0 || self->told ? cycle() : never();
}

#undef CLASSES
