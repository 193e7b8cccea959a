// memory_crossbar.c: many requesters, many banks; see memory_crossbar.lss.
#include "memory_arbiter.h"

#define LANES (width(in_request))
#define BANKS (width(out_request))
// Bits that a lane number takes in the tag, and which those are.
#define LANE_BITS (LANES > 1 ? 32 - __builtin_clz(LANES - 1) : 0)
#define LANE_MASK ((1u << LANE_BITS) - 1)

static inline int32_t bank_of(const self_t *self, uint32_t address) {
  if (replaced(bank)) return call(bank, address);
  uint32_t offset = address - (uint32_t)param(base);
  if (param(interleave) > 0) return (int32_t)(offset / (uint32_t)(param(interleave) + !param(interleave)) % (uint32_t)BANKS);
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
  if (block > 0) return within / block * (block * (uint32_t)BANKS) + (uint32_t)bank * block + within % block + (uint32_t)param(base);
  return within + (uint32_t)bank * (uint32_t)param(segment) + (uint32_t)param(base);
}

init() {
  for (int b = 0; b < BANKS; b++) self->last[b] = -1;
}

handler(choose) {
  uint64_t requests = 0;
  for (int i = 0; i < LANES; i++) requests |= (uint64_t)some(in_request, i) << i;
  set(asking, requests);
  if (__builtin_expect(requests == 0, 0)) {
    set(nowhere, 0);
    for (int b = 0; b < BANKS; b++) {
      set(winner, b, -1);
      send_nothing(out_request, b);
    }
    return;
  }
  uint64_t asks[BANKS] = {0}, lost = 0;
  int32_t goal[LANES];
  requests &= ~self->full;
  for (int i = 0; i < LANES; i++) {
    if (!(requests >> i & 1)) continue;
    goal[i] = bank_of(self, data(in_request, i).address);
    if (goal[i] >= 0 && goal[i] < BANKS) asks[goal[i]] |= UINT64_C(1) << i;
    else lost |= UINT64_C(1) << i;
  }
  set(nowhere, lost);
  uint64_t go = 0; // lanes that go on
  int32_t chosen[BANKS];
  for (int b = 0; b < BANKS; b++) {
    int32_t lane = -1;
    if (asks[b]) {
      lane = call(policy, asks[b], self->last[b], self->served[b]);
      if (__builtin_expect(lane < -1 || lane >= LANES, 0)) sim_error("the policy chose lane %d, there are %d", (int)lane, LANES);
      if (lane >= 0 && (asks[b] >> lane & 1)) go |= UINT64_C(1) << lane;
      else lane = -1;
    }
    chosen[b] = lane;
    set(winner, b, lane);
  }
  typeof_port(out_request) request[BANKS];
  for (int i = 0; i < LANES; i++)
    if (go >> i & 1) request[goal[i]] = data(in_request, i);
  for (int b = 0; b < BANKS; b++) {
    if (chosen[b] < 0) {
      send_nothing(out_request, b);
      continue;
    }
    request[b].address = address_within(self, request[b].address);
    if (LANE_BITS > 0 && __builtin_expect(request[b].tag >> (32 - LANE_BITS), 0))
      sim_error("tag 0x%x of lane %d leaves no room for %d bits of lane", (unsigned)request[b].tag, (int)chosen[b], LANE_BITS);
    request[b].tag = request[b].tag << LANE_BITS | (uint32_t)chosen[b];
    send(out_request, b, request[b]);
  }
}

handler(commit) {
  uint64_t committed = 0;
  if (get(asking))
    for (int i = 0; i < LANES; i++) committed |= (uint64_t)enabled(in_request, i) << i;
  if (__builtin_expect((get(asking) & ~committed) == 0, 1)) {
    for (int b = 0; b < BANKS; b++) enable(out_request, b, get(winner, b) >= 0);
    return;
  }
  for (int b = 0; b < BANKS; b++) enable(out_request, b, get(winner, b) >= 0 && (committed >> (get(winner, b) & 63) & 1));
}

handler(accept) {
  uint64_t taken = get(nowhere);
  if (get(asking))
    for (int b = 0; b < BANKS; b++)
      if (get(winner, b) >= 0 && acked(out_request, b)) taken |= UINT64_C(1) << get(winner, b);
  for (int i = 0; i < LANES; i++) accept(in_request, i, taken >> i & 1);
  set(accepted, taken);
}

// Whether an answer from the bank is one to the oldest reference of the lane.
static inline bool is_oldest(const self_t *self, uint32_t lane, int32_t bank, uint32_t tag) {
  uint32_t oldest = self->head[lane];
  return self->count[lane] && self->place[lane][oldest] == bank && self->tag[lane][oldest] == tag;
}

handler(answer) {
  bool any = self->early != 0;
  for (int b = 0; b < BANKS; b++) any |= some(out_reply, b);
  if (!any) {
    for (int i = 0; i < LANES; i++) send_nothing(in_reply, i);
    set(answered, 0);
    return;
  }
  uint64_t early = self->early, answers = early;
  typeof_port(in_reply) reply[LANES];
  for (int b = 0; b < BANKS; b++) {
    if (!some(out_reply, b) || !enabled(out_reply, b)) continue;
    uint32_t lane = data(out_reply, b).tag & LANE_MASK, tag = data(out_reply, b).tag >> LANE_BITS;
    if (__builtin_expect(lane >= (uint32_t)LANES, 0)) sim_error("an answer came back with tag 0x%x, which no requester here used", (unsigned)data(out_reply, b).tag);
    // It may pass if it answers the oldest reference; a requester without any made it in this cycle.
    if (self->count[lane] && !is_oldest(self, lane, b, tag)) continue;
    reply[lane] = data(out_reply, b);
    reply[lane].tag = tag;
    answers |= UINT64_C(1) << lane;
  }
  for (; __builtin_expect(early != 0, 0); early &= early - 1) {
    int i = __builtin_ctzll(early);
    reply[i] = self->kept[i][self->head[i]];
  }
  set(answered, answers);
  for (int i = 0; i < LANES; i++) {
    if (answers >> i & 1) send(in_reply, i, reply[i]);
    else send_nothing(in_reply, i);
  }
}

// A reference of the lane was accepted; bank -1: its answer is there already.
static uint32_t enter(self_t *self, int lane, int32_t bank, uint32_t tag) {
  uint32_t at = self->head[lane] + self->count[lane];
  if (at >= (uint32_t)param(outstanding)) at -= (uint32_t)param(outstanding);
  self->tag[lane][at] = tag;
  self->place[lane][at] = bank;
  if (++self->count[lane] == (uint32_t)param(outstanding)) self->full |= UINT64_C(1) << lane;
  self->open++;
  self->references++;
  return at;
}

// Keeps an answer until those to older references of the lane have gone.
static __attribute__((noinline)) void keep(self_t *self, uint32_t lane, int32_t from, uint32_t tag, typeof_port(out_reply) reply) {
  uint32_t at = self->head[lane];
  for (uint32_t k = 0; k < self->count[lane]; k++) {
    if (self->place[lane][at] == from && self->tag[lane][at] == tag) {
      self->place[lane][at] = -1;
      self->kept[lane][at] = reply;
      self->kept[lane][at].tag = tag;
      self->reordered += k > 0;
      return;
    }
    at = at + 1 == (uint32_t)param(outstanding) ? 0 : at + 1;
  }
  sim_error("bank %d answered lane %u with tag 0x%x, which is not outstanding", (int)from, (unsigned)lane, (unsigned)tag);
}

// The oldest references of these lanes are answered.
static inline void leave(self_t *self, uint64_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    int i = __builtin_ctzll(lanes);
    self->head[i] = self->head[i] + 1 == (uint32_t)param(outstanding) ? 0 : self->head[i] + 1;
    self->count[i]--;
    self->open--;
    self->full &= ~(UINT64_C(1) << i);
  }
}

// Which of these lanes now have an answer to their oldest reference.
static inline void look_for_early(self_t *self, uint64_t lanes) {
  self->early &= ~lanes;
  for (; lanes; lanes &= lanes - 1) {
    int i = __builtin_ctzll(lanes);
    if (self->count[i] && self->place[i][self->head[i]] < 0) self->early |= UINT64_C(1) << i;
  }
}

phase_end() {
  uint64_t requests = get(asking);
  if (requests == 0 && self->open == 0) return;
  if (requests) {
    for (uint64_t refused = requests & ~get(accepted); refused; refused &= refused - 1) self->waits++;
    for (int b = 0; b < BANKS; b++) {
      if (!transferred(out_request, b)) continue;
      int32_t lane = get(winner, b);
      self->served[b] = lane == self->last[b] ? self->served[b] + 1 : 1;
      self->last[b] = lane;
      enter(self, lane, b, data(out_request, b).tag >> LANE_BITS);
      uint32_t address = address_outside(self, b, data(out_request, b).address);
      if (data(out_request, b).size > 1 && __builtin_expect(bank_of(self, address + data(out_request, b).size - 1) != b, 0))
        sim_error("a reference of %u bytes at 0x%x lies in two banks: requesters must keep within one", (unsigned)data(out_request, b).size, (unsigned)address);
      uint64_t asks_it = 0;
      for (int i = 0; i < LANES; i++) asks_it |= (uint64_t)(some(in_request, i) && bank_of(self, data(in_request, i).address) == b) << i;
      event(granted, lane, b, data(out_request, b).op, address, data(out_request, b).size, asks_it);
    }
  }
  for (int i = 0; i < LANES && get(nowhere); i++) {
    if (!(get(nowhere) >> i & 1) || !transferred(in_request, i)) continue;
    uint32_t at = enter(self, i, -1, data(in_request, i).tag);
    self->kept[i][at] = (typeof_port(in_reply)){.tag = data(in_request, i).tag, .error = true};
    self->errors++;
    event(unmapped, i, data(in_request, i).address);
  }
  for (int b = 0; b < BANKS; b++) {
    if (!transferred(out_reply, b)) continue;
    uint32_t lane = data(out_reply, b).tag & LANE_MASK, tag = data(out_reply, b).tag >> LANE_BITS;
    if (!is_oldest(self, lane, b, tag)) keep(self, lane, b, tag, data(out_reply, b));
  }
  if (get(answered) == 0 && get(nowhere) == 0) return;
  for (int i = 0; i < LANES; i++)
    if ((get(answered) >> i & 1) && !acked(in_reply, i)) sim_error("the answer with tag 0x%x was refused", (unsigned)data(in_reply, i).tag);
  leave(self, get(answered));
  look_for_early(self, get(answered) | get(nowhere));
}

next_event() {
  return self->early ? cycle() : never();
}

#undef LANES
#undef BANKS
#undef LANE_BITS
#undef LANE_MASK
