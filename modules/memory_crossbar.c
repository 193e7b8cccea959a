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

init() {
  for (int b = 0; b < BANKS; b++) self->last[b] = -1;
}

handler(choose) {
  uint64_t requests = 0;
  for (int i = 0; i < LANES; i++) requests |= (uint64_t)some(in_request, i) << i;
  if (__builtin_expect(requests == 0, 1)) {
    set(asking, 0);
    set(nowhere, 0);
    for (int b = 0; b < BANKS; b++) {
      set(winner, b, -1);
      send_nothing(out_request, b);
    }
    return;
  }
  uint64_t asks[BANKS] = {0}, lost = 0;
  for (int i = 0; i < LANES; i++) {
    if (!some(in_request, i) || self->count[i] == (uint32_t)param(outstanding)) continue;
    int32_t b = bank_of(self, data(in_request, i).address);
    if (b >= 0 && b < BANKS) asks[b] |= UINT64_C(1) << i;
    else lost |= UINT64_C(1) << i;
  }
  int32_t chosen[BANKS];
  for (int b = 0; b < BANKS; b++) {
    int32_t lane = asks[b] ? call(policy, asks[b], self->last[b], self->served[b]) : -1;
    if (lane < -1 || lane >= LANES) sim_error("the policy chose lane %d, there are %d", (int)lane, LANES);
    chosen[b] = lane >= 0 && (asks[b] >> lane & 1) ? lane : -1;
    set(winner, b, chosen[b]);
  }
  set(asking, requests);
  set(nowhere, lost);
  typeof_port(out_request) request[BANKS];
  for (int i = 0; i < LANES; i++) {
    if (!some(in_request, i)) continue;
    int32_t b = bank_of(self, data(in_request, i).address);
    if (b < 0 || b >= BANKS || chosen[b] != i) continue;
    request[b] = data(in_request, i);
    request[b].address = address_within(self, request[b].address);
    if (LANE_BITS > 0 && request[b].tag >> (32 - LANE_BITS))
      sim_error("tag 0x%x of lane %d leaves no room for %d bits of lane", (unsigned)request[b].tag, i, LANE_BITS);
    request[b].tag = request[b].tag << LANE_BITS | (uint32_t)i;
  }
  for (int b = 0; b < BANKS; b++) {
    if (chosen[b] >= 0) send(out_request, b, request[b]);
    else send_nothing(out_request, b);
  }
}

handler(commit) {
  uint64_t committed = 0;
  if (get(asking))
    for (int i = 0; i < LANES; i++) committed |= (uint64_t)enabled(in_request, i) << i;
  for (int b = 0; b < BANKS; b++) enable(out_request, b, get(winner, b) >= 0 && (committed >> (get(winner, b) & 63) & 1));
}

handler(accept) {
  uint64_t accepted = get(nowhere);
  if (get(asking))
    for (int b = 0; b < BANKS; b++)
      if (get(winner, b) >= 0 && acked(out_request, b)) accepted |= UINT64_C(1) << get(winner, b);
  for (int i = 0; i < LANES; i++) accept(in_request, i, accepted >> i & 1);
}

handler(answer) {
  bool any = self->early != 0;
  for (int b = 0; b < BANKS; b++) any |= some(out_reply, b);
  if (__builtin_expect(!any, 1)) {
    for (int i = 0; i < LANES; i++) send_nothing(in_reply, i);
    return;
  }
  uint64_t answered = self->early;
  typeof_port(in_reply) reply[LANES];
  for (int b = 0; b < BANKS; b++) {
    if (!some(out_reply, b) || !enabled(out_reply, b)) continue;
    uint32_t lane = data(out_reply, b).tag & LANE_MASK, tag = data(out_reply, b).tag >> LANE_BITS;
    if (lane >= (uint32_t)LANES) sim_error("an answer came back with tag 0x%x, which no requester here used", (unsigned)data(out_reply, b).tag);
    // It may pass if it answers the oldest reference; a requester without any made it in this cycle.
    uint32_t oldest = self->head[lane];
    if (self->count[lane] && (self->place[lane][oldest] != b || self->tag[lane][oldest] != tag)) continue;
    reply[lane] = data(out_reply, b);
    reply[lane].tag = tag;
    answered |= UINT64_C(1) << lane;
  }
  for (int i = 0; i < LANES; i++) {
    if (self->early >> i & 1) reply[i] = self->kept[i][self->head[i]];
    if (answered >> i & 1) send(in_reply, i, reply[i]);
    else send_nothing(in_reply, i);
  }
}

// A reference of the lane was accepted; bank -1: its answer is there already.
static uint32_t enter(self_t *self, int lane, int32_t bank, uint32_t tag) {
  uint32_t at = self->head[lane] + self->count[lane];
  if (at >= (uint32_t)param(outstanding)) at -= (uint32_t)param(outstanding);
  self->tag[lane][at] = tag;
  self->place[lane][at] = bank;
  self->count[lane]++;
  self->open++;
  self->references++;
  return at;
}

// Keeps an answer until those to older references of the lane have gone.
static void keep(self_t *self, uint32_t lane, int32_t from, const typeof_port(out_reply) * reply) {
  uint32_t tag = reply->tag >> LANE_BITS, at = self->head[lane];
  for (uint32_t k = 0; k < self->count[lane]; k++) {
    if (self->place[lane][at] == from && self->tag[lane][at] == tag) {
      self->place[lane][at] = -1;
      self->kept[lane][at] = *reply;
      self->kept[lane][at].tag = tag;
      self->reordered += k > 0;
      return;
    }
    at = at + 1 == (uint32_t)param(outstanding) ? 0 : at + 1;
  }
  sim_error("bank %d answered lane %u with tag 0x%x, which is not outstanding", (int)from, (unsigned)lane, (unsigned)tag);
}

phase_end() {
  bool asked = false;
  for (int i = 0; i < LANES; i++) asked |= some(in_request, i);
  if (__builtin_expect(!asked && self->open == 0, 1)) return;
  if (asked) {
    for (int i = 0; i < LANES; i++) self->waits += some(in_request, i) && !acked(in_request, i);
    for (int b = 0; b < BANKS; b++) {
      if (!transferred(out_request, b)) continue;
      int32_t lane = get(winner, b);
      self->served[b] = lane == self->last[b] ? self->served[b] + 1 : 1;
      self->last[b] = lane;
      enter(self, lane, b, data(out_request, b).tag >> LANE_BITS);
      uint32_t address = data(out_request, b).address;
      uint64_t asks_it = 0;
      for (int i = 0; i < LANES; i++) {
        if (!some(in_request, i)) continue;
        uint32_t first = data(in_request, i).address;
        int32_t to = bank_of(self, first);
        if (to == b) asks_it |= UINT64_C(1) << i;
        if (i != lane) continue;
        address = first;
        if (data(in_request, i).size > 1 && bank_of(self, first + data(in_request, i).size - 1) != to)
          sim_error("a reference of %u bytes at 0x%x lies in two banks: requesters must keep within one", (unsigned)data(in_request, i).size, (unsigned)first);
      }
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
  for (int b = 0; b < BANKS; b++)
    if (transferred(out_reply, b)) keep(self, data(out_reply, b).tag & LANE_MASK, b, &data(out_reply, b));
  uint64_t early = 0;
  for (int i = 0; i < LANES && self->open; i++) {
    if (some(in_reply, i)) {
      if (!acked(in_reply, i)) sim_error("the answer with tag 0x%x was refused", (unsigned)data(in_reply, i).tag);
      self->head[i] = self->head[i] + 1 == (uint32_t)param(outstanding) ? 0 : self->head[i] + 1;
      self->count[i]--;
      self->open--;
    }
    if (self->count[i] && self->place[i][self->head[i]] < 0) early |= UINT64_C(1) << i;
  }
  self->early = early;
}

next_event() {
  return self->early ? cycle() : never();
}

#undef LANES
#undef BANKS
#undef LANE_BITS
#undef LANE_MASK
