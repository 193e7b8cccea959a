// memory_router.c: one stream of references over several targets; see memory_router.lss.
#include "memory_router.h"

#define CLASSES (param_length(watched_bytes))

phase_start() {
  if (width(notice)) send_if(notice, self->told != 0, self->told);
  if (width(snooped)) {
    mem_snoop item = {0};
    bool any = false;
    for (int k = CLASSES - 1; k >= 0 && __builtin_expect(self->any_touched, 0); k--) {
      if (!self->touched[k]) continue;
      item = (mem_snoop){.address = self->watched_here[k], .size = (uint32_t)param(watched_bytes)[k]};
      any = true;
    }
    send_if(snooped, any, item);
  }
}

// A write of `size` bytes at the target's `address`; `own_class` is the class and `own_here` the requester's address when
// it is the requester's own, else -1.
static void note_write(self_t *self, uint32_t address, uint32_t size, int own_class, uint32_t own_here) {
  for (int k = 0; k < CLASSES; k++) {
    uint32_t block = (uint32_t)param(watched_bytes)[k];
    if (!self->watching[k] || address >= self->watched_there[k] + block || address + size <= self->watched_there[k]) continue;
    if (own_class == k && (own_here & ~(block - 1)) == self->watched_here[k]) continue;
    self->touched[k] = self->any_touched = true;
  }
}

handler(forward) {
  int to = -2;
  if (__builtin_expect(some(in_request) && !self->refused, 0)) {
    typeof_port(in_request) request = data(in_request);
    uint32_t values[width(context) + 1];
    for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? data(context, i) : 0;
    uint64_t contexts = (uint64_t)(uintptr_t)values;
    int lane = call(route, contexts, request.address, request.op != mem_op_read);
    if (self->waiting < param(outstanding) && (self->waiting == 0 || lane == self->current)) {
      to = lane < 0 || lane >= width(out_request) ? -1 : lane;
      if (to >= 0) request.address = call(map, contexts, request.address);
      for (int i = 0; i < width(out_request) && to >= 0; i++) {
        if (i == to) send(out_request, i, request);
        else send_nothing(out_request, i);
      }
    }
  }
  if (to < 0)
    for (int i = 0; i < width(out_request); i++) send_nothing(out_request, i);
  set(target, to);
}

handler(commit) {
  for (int i = 0; i < width(out_request); i++) enable(out_request, i, i == get(target) && enabled(in_request));
}

handler(answer) {
  if (__builtin_expect(get(target) == -2, 1)) {
    accept(in_request, false);
    return;
  }
  bool taken = get(target) == -1;
  for (int i = 0; i < width(out_request); i++) taken |= i == get(target) && acked(out_request, i);
  accept(in_request, taken);
}

handler(back) {
  if (__builtin_expect(!self->refused && !self->waiting, 1)) {
    send_nothing(in_reply);
    return;
  }
  typeof_port(in_reply) reply = {0};
  bool any = self->refused;
  if (any) {
    reply.tag = self->refused_tag;
    reply.error = true;
  }
  for (int i = 0; i < width(out_reply); i++) {
    if (some(out_reply, i)) {
      reply = data(out_reply, i);
      any = true;
    }
  }
  if (any) send(in_reply, reply);
  else send_nothing(in_reply);
}

handler(settle) {
  if (__builtin_expect(!self->refused && !self->waiting, 1)) {
    enable(in_reply, false);
    return;
  }
  bool any = self->refused;
  for (int i = 0; i < width(out_reply); i++) any |= some(out_reply, i) && enabled(out_reply, i);
  enable(in_reply, any);
}

phase_end() {
  bool any = self->refused || self->waiting || self->told || self->any_touched || some(in_request);
  for (int i = 0; i < width(snoop); i++) any |= some(snoop, i);
  if (__builtin_expect(!any, 1)) return;
  if (width(snooped)) {
    // The one that was passed on is the lowest class.
    if (__builtin_expect(self->any_touched && transferred(snooped), 0)) {
      self->any_touched = false;
      for (int k = 0; k < CLASSES; k++) {
        if (!self->touched[k]) continue;
        self->touched[k] = false;
        self->watching[k] = false;
        for (int rest = k + 1; rest < CLASSES; rest++) self->any_touched |= self->touched[rest];
        break;
      }
    }
    for (int i = 0; i < width(snoop); i++)
      if (some(snoop, i) && !call(own, data(snoop, i).tag)) note_write(self, data(snoop, i).address, data(snoop, i).size, -1, 0);
  }
  self->told = 0;
  self->refused = false;
  if (self->waiting) {
    for (int i = 0; i < width(out_reply); i++) {
      if (!transferred(out_reply, i)) continue;
      self->told = self->notices[self->oldest];
      self->oldest = self->oldest + 1 == param(outstanding) ? 0 : self->oldest + 1;
      self->waiting--;
    }
  }
  if (!transferred(in_request)) return;
  typeof_port(in_request) request = data(in_request);
  bool write = request.op != mem_op_read;
  self->references++;
  if (get(target) < 0) {
    self->refused = true;
    self->refused_tag = request.tag;
    self->errors++;
    event(unmapped, request.address, write);
    return;
  }
  uint32_t values[width(context) + 1];
  for (int i = 0; i < width(context); i++) values[i] = some(context, i) ? data(context, i) : 0;
  if (width(snooped) && request.op <= mem_op_write && get(target) == param(watched_target)) {
    uint32_t there = call(map, (uint64_t)(uintptr_t)values, request.address);
    int k = (int)(request.tag % (uint32_t)(CLASSES ? CLASSES : 1));
    uint32_t block = CLASSES ? (uint32_t)param(watched_bytes)[k] : 1;
    if (write) {
      note_write(self, there, request.size, k, request.address);
    } else if (!self->watching[k] || self->watched_here[k] != (request.address & ~(block - 1))) {
      self->watching[k] = true;
      self->watched_here[k] = request.address & ~(block - 1);
      self->watched_there[k] = there - (request.address - self->watched_here[k]);
      self->touched[k] = false;
    }
  }
  int place = self->oldest + self->waiting;
  if (place >= param(outstanding)) place -= param(outstanding);
  self->notices[place] = call(noticed, (uint64_t)(uintptr_t)values, request.address, write);
  self->waiting++;
  self->current = get(target);
}

next_event() {
  for (int k = 0; k < CLASSES; k++)
    if (self->touched[k]) return cycle();
  return self->refused || self->told ? cycle() : never();
}

#undef CLASSES
