// memory_crossbar.c: many requesters, many banks; see memory_crossbar.lss.
#include "memory/memory_arbiter.h"

#define LANES (width(in_request))
#define BANKS (width(out_request))
// Bits that a lane number takes in the tag, and which those are.
#define LANE_BITS (LANES > 1 ? 32 - __builtin_clz(LANES - 1) : 0)
#define LANE_MASK ((1u << LANE_BITS) - 1)

static inline int32_t bank_of(const self_t *self, uint32_t address) {
  if (param(chosen)) return call(bank, address);
  uint32_t offset = address - (uint32_t)param(base);
  if (param(interleave) > 0)
    return (int32_t)(offset / (uint32_t)(param(interleave) + !param(interleave)) % (uint32_t)BANKS);
  uint32_t number = offset / (uint32_t)(param(segment) + !param(segment));
  return number < (uint32_t)BANKS ? (int32_t)number : BANKS - 1;
}

// The address as the bank sees it.
static inline uint32_t address_within(const self_t *self, uint32_t address) {
  if (!param(relative)) return address;
  uint32_t offset = address - (uint32_t)param(base), block = (uint32_t)param(interleave);
  if (block > 0) return offset / (block * (uint32_t)BANKS) * block + offset % (block + !block);
  return offset - (uint32_t)bank_of(self, address) * (uint32_t)param(segment);
}

// The other way round: the address at the requester.
static inline uint32_t address_outside(const self_t *self, int bank, uint32_t within) {
  if (!param(relative)) return within;
  uint32_t block = (uint32_t)param(interleave);
  if (block > 0)
    return within / block * (block * (uint32_t)BANKS) + (uint32_t)bank * block + within % block + (uint32_t)param(base);
  return within + (uint32_t)bank * (uint32_t)param(segment) + (uint32_t)param(base);
}

init() {
  for (int b = 0; b < BANKS; b++) self->last[b] = -1;
}

handler(choose) {
  uint64_t requests = 0, lost = 0, requesting[BANKS] = {0};
  typeof_port(in_request) offered[LANES];
  for (int i = 0; i < LANES; i++) {
    if (!some(in_request, i)) continue;
    requests |= UINT64_C(1) << i;
    if (self->full >> i & 1) continue;
    const bool barrier = item(in_request, i).op == mem_op_barrier;
    const int32_t goal = barrier ? -1 : bank_of(self, item(in_request, i).address);
    if (goal >= 0 && goal < BANKS)
      requesting[goal] |= UINT64_C(1) << i;
    else
      lost |= UINT64_C(1) << i;
    offered[i] = item(in_request, i);
  }
  set(requesting, requests);
  set(unmapped_lanes, lost);
  for (int b = 0; b < BANKS; b++) {
    int32_t lane = -1;
    if (requesting[b]) {
      lane = call(policy, requesting[b], self->last[b], self->served[b]);
      if (__builtin_expect(lane < -1 || lane >= LANES, 0))
        sim_error("the policy chose lane %d, there are %d", (int)lane, LANES);
    }
    if (lane < 0 || !(requesting[b] >> lane & 1)) {
      set(winner, b, 0);
      send_nothing(out_request, b);
      continue;
    }
    set(winner, b, UINT64_C(1) << lane);
    typeof_port(out_request) request = offered[lane];
    request.address = address_within(self, request.address);
    if (LANE_BITS > 0 && __builtin_expect(request.tag >> (32 - LANE_BITS), 0))
      sim_error("tag 0x%x of lane %d leaves no room for %d bits of lane", (unsigned)request.tag, (int)lane, LANE_BITS);
    request.tag = request.tag << LANE_BITS | (uint32_t)lane;
    send(out_request, b, request);
  }
}

handler(commit) {
  uint64_t withheld = get(requesting);
  for (int i = 0; i < LANES; i++) withheld &= ~((uint64_t)enabled(in_request, i) << i);
  for (int b = 0; b < BANKS; b++) enable(out_request, b, get(winner, b) & ~withheld);
}

handler(accept) {
  uint64_t taken = get(unmapped_lanes);
  for (int b = 0; b < BANKS; b++) taken |= acked(out_request, b) ? get(winner, b) : 0;
  for (int i = 0; i < LANES; i++) accept(in_request, i, taken >> i & 1);
  set(accepted, taken);
}

// What a request is known by: the bank that it went to, above its tag.
static inline uint64_t name_of(int32_t bank, uint32_t tag) {
  return (uint64_t)bank << 32 | tag;
}

// Instead of a name: its reply came, and is kept here.
#define KEPT UINT64_MAX

// Whether a reply from the bank is one to the oldest request of the lane.
static inline bool is_oldest(const self_t *self, uint32_t lane, int32_t bank, uint32_t tag) {
  return self->count[lane] && self->name[lane][self->head[lane]] == name_of(bank, tag);
}

check_state() {
  for (int i = 0; i < LANES; i++) {
    const bool early = self->early >> i & 1, full = self->full >> i & 1;
    if (early && (!self->count[i] || self->name[i][self->head[i]] != KEPT))
      sim_error("a reply is kept for the oldest request of lane %d, which has none", i);
    if (full != (self->count[i] == (uint32_t)param(outstanding)))
      sim_error("lane %d has %u requests outstanding, and %s more", i, (unsigned)self->count[i],
                full ? "may make no" : "may make");
  }
}

handler(reply) {
  uint64_t early = self->early, replies = early, unresolved = 0;
  bool any = early != 0;
  for (int b = 0; b < BANKS; b++) any |= some(out_reply, b);
  if (!any) {
    for (int i = 0; i < LANES; i++) send_nothing(in_reply, i);
    set(replied, 0);
    set(unresolved_banks, 0);
    return;
  }
  typeof_port(in_reply) reply[LANES];
  for (int b = 0; b < BANKS; b++) {
    if (!some(out_reply, b) || !enabled(out_reply, b)) continue;
    uint32_t lane = item(out_reply, b).tag & LANE_MASK, tag = item(out_reply, b).tag >> LANE_BITS;
    if (__builtin_expect(lane >= (uint32_t)LANES, 0))
      sim_error("a reply came back with tag 0x%x, which no requester here used", (unsigned)item(out_reply, b).tag);
    if (__builtin_expect(!is_oldest(self, lane, b, tag), 0)) {
      unresolved |= UINT64_C(1) << b;
      // It may pass if it belongs to the oldest request; a requester without any made it in this cycle.
      if (self->count[lane]) continue;
    }
    reply[lane] = item(out_reply, b);
    reply[lane].tag = tag;
    replies |= UINT64_C(1) << lane;
  }
  for (; __builtin_expect(early != 0, 0); early &= early - 1) {
    int i = __builtin_ctzll(early);
    reply[i] = self->kept[i][self->head[i]];
  }
  set(replied, replies);
  set(unresolved_banks, unresolved);
  for (int i = 0; i < LANES; i++) send_if(in_reply, i, replies >> i & 1, reply[i]);
}

// A request of the lane was accepted.
static uint32_t enter(self_t *self, int lane, uint64_t name) {
  uint32_t at = self->head[lane] + self->count[lane];
  if (at >= (uint32_t)param(outstanding)) at -= (uint32_t)param(outstanding);
  self->name[lane][at] = name;
  if (++self->count[lane] == (uint32_t)param(outstanding)) self->full |= UINT64_C(1) << lane;
  count(requests);
  return at;
}

// A request that no bank takes: its reply is there already, and goes when all before it have gone.  To a barrier
// that is what it waits for.
static __attribute__((noinline)) void reply_here(self_t *self, int lane, typeof_port(in_request) request) {
  uint32_t at = enter(self, lane, KEPT);
  self->kept[lane][at] = (typeof_port(in_reply)){.tag = request.tag, .error = request.op < mem_op_barrier};
  self->waiting++;
  if (request.op == mem_op_barrier) return;
  count(errors);
  event(unmapped, lane, request.address);
}

// Keeps a reply until those to older requests of the lane have gone, unless it is one to the oldest.
static __attribute__((noinline)) void keep(self_t *self, int32_t bank, typeof_port(out_reply) reply) {
  uint32_t lane = reply.tag & LANE_MASK, at = self->head[lane];
  reply.tag >>= LANE_BITS;
  if (is_oldest(self, lane, bank, reply.tag)) return;
  for (uint32_t k = 0; k < self->count[lane]; k++) {
    if (self->name[lane][at] == name_of(bank, reply.tag)) {
      self->name[lane][at] = KEPT;
      self->kept[lane][at] = reply;
      self->waiting++;
      count(reordered, k > 0);
      return;
    }
    at = at + 1 == (uint32_t)param(outstanding) ? 0 : at + 1;
  }
  sim_error("bank %d replied to lane %u with tag 0x%x, which is not outstanding", (int)bank, (unsigned)lane,
            (unsigned)reply.tag);
}

// The oldest requests of these lanes have their replies.
static inline void leave(self_t *self, uint64_t lanes) {
  self->full &= ~lanes;
  for (; lanes; lanes &= lanes - 1) {
    int i = __builtin_ctzll(lanes);
    self->head[i] = self->head[i] + 1 == (uint32_t)param(outstanding) ? 0 : self->head[i] + 1;
    self->count[i]--;
  }
}

// Which lanes now have a reply to their oldest request; those that had one have given it.
static __attribute__((noinline)) void look_for_early(self_t *self) {
  for (; self->early; self->early &= self->early - 1) self->waiting--;
  for (int i = 0; i < LANES; i++)
    self->early |= (uint64_t)(self->count[i] && self->name[i][self->head[i]] == KEPT) << i;
}

phase_end() {
  uint64_t requests = get(requesting);
  self->refused = (uint32_t)__builtin_popcountll(requests & ~get(accepted));
  if (requests) {
    count(waits, self->refused);
    for (int b = 0; b < BANKS; b++) {
      if (!transferred(out_request, b)) continue;
      int32_t lane = (int32_t)(data(out_request, b).tag & LANE_MASK);
      self->served[b] = lane == self->last[b] ? self->served[b] + 1 : 1;
      self->last[b] = lane;
      enter(self, lane, name_of(b, data(out_request, b).tag >> LANE_BITS));
      uint32_t address = address_outside(self, b, data(out_request, b).address);
      if (data(out_request, b).size > 1 &&
          __builtin_expect(bank_of(self, address + data(out_request, b).size - 1) != b, 0))
        sim_error("a request of %u bytes at 0x%x is in two banks: requesters must keep within one",
                  (unsigned)data(out_request, b).size, (unsigned)address);
      uint64_t requests_it = 0;
      for (int i = 0; i < LANES; i++)
        requests_it |= (uint64_t)(some(in_request, i) && bank_of(self, data(in_request, i).address) == b) << i;
      event(granted, lane, b, data(out_request, b).op, address, data(out_request, b).size, requests_it);
    }
    for (int i = 0; i < LANES && get(unmapped_lanes); i++)
      if ((get(unmapped_lanes) >> i & 1) && transferred(in_request, i)) reply_here(self, i, data(in_request, i));
  }
  for (int b = 0; b < BANKS && get(unresolved_banks); b++)
    if ((get(unresolved_banks) >> b & 1) && transferred(out_reply, b)) keep(self, b, data(out_reply, b));
  for (int i = 0; i < LANES; i++)
    if ((get(replied) >> i & 1) && !acked(in_reply, i))
      sim_error("the reply with tag 0x%x was refused", (unsigned)data(in_reply, i).tag);
  leave(self, get(replied));
  if (__builtin_expect(self->waiting, 0)) look_for_early(self);
}

// Cycles in which nothing but time passes are not stepped: the requests that wait wait in each of them.
skip(n) {
  count(waits, n * self->refused);
}

next_event() {
  return self->early ? cycle() : never();
}
