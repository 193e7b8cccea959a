/* mshr_controller.c: a non-blocking cache; see mshr_controller.lss.
 *
 * At the end of a cycle come first the requests that were accepted, then memory's reply, then those that waited for it.
 * What is sent in the next cycle, to memory and in reply to who waited, is decided here and shown from state. */
#include "cache/mshr_controller.h"

static inline uint32_t number_of(uint32_t address) {
  return address / CACHE_LINE;
}
static inline uint32_t set_of(const self_t *self, uint32_t number) {
  return call(index, number) % (uint32_t)param(sets);
}
static inline uint32_t place_of(uint32_t set, uint32_t way) {
  return (set * (uint32_t)param(ways) + way) * CACHE_LINE;
}

/* The way that holds a line, or MSHR_NOWHERE. */
static inline uint32_t find(const self_t *self, uint32_t set, uint32_t number) {
  for (uint32_t w = 0; w < (uint32_t)param(ways); w++)
    if (self->valid[set][w] && self->number[set][w] == number) return w;
  return MSHR_NOWHERE;
}

/* The outstanding miss for a line, or MSHR_NONE. */
static inline uint32_t find_miss(const self_t *self, uint32_t number) {
  for (uint32_t k = 0; k < self->used; k++)
    if (self->entry[self->order[k]].number == number) return self->order[k];
  return MSHR_NONE;
}

/* Ways of a set that wait for their lines, a bit for each. */
static inline uint64_t filling(const self_t *self, uint32_t set) {
  uint64_t ways = 0;
  for (uint32_t k = 0; k < self->used; k++)
    if (self->entry[self->order[k]].set == set) ways |= UINT64_C(1) << self->entry[self->order[k]].way;
  return ways;
}

static inline bool is_linked(const self_t *self, uint32_t number) {
  return self->linked && self->linked_line == number;
}

/* Whether nothing is outstanding. */
static inline bool idle(const self_t *self) {
  return self->used == 0 && self->leaving_count == 0 && !self->passing;
}

init() {
  random_seed(&self->rng);
  for (int m = 0; m < param(mshrs); m++) self->order[m] = (uint8_t)m;
}

phase_start() {
  send_if(memory_request, self->offering, self->offered);
}

/* ---- Requests ------------------------------------------------------------------------------------------------------
 */

/* What becomes of a request whose line no MSHR has. */
static inline mshr_outcome look_up(const self_t *self, const typeof_port(in_request) * request, uint32_t set,
                                   const mshr_room *room, uint32_t *way) {
  const uint32_t number = number_of(request->address);
  const bool writes = !memory_only_reads(request->op);
  *way = find(self, set, number);
  const bool stores_nothing = request->op == mem_op_store_conditional && !is_linked(self, number);
  if (*way != MSHR_NOWHERE || stores_nothing)
    return param(write_back) || !writes || room->writes > 0 ? mshr_outcome_hit : mshr_outcome_none;
  if (!param(write_back) && request->op == mem_op_write)
    return room->writes > 0 ? mshr_outcome_through : mshr_outcome_none;
  if (room->mshrs == 0 || (param(write_back) && room->writes == 0)) return mshr_outcome_none;
  return __builtin_popcountll(filling(self, set)) < param(ways) ? mshr_outcome_miss : mshr_outcome_none;
}

/* Decides about a request; `replied`: it gets its reply in this cycle, if its lane is free for that. */
static inline mshr_outcome decide(const self_t *self, const typeof_port(in_request) * request, bool lane_free,
                                  mshr_room *room, uint32_t *way, bool *replied) {
  *replied = false;
  if (request->op >= mem_op_barrier || !call(cacheable, request->address))
    return room->alone && idle(self) ? mshr_outcome_passes : mshr_outcome_none;
  if (self->passing) return mshr_outcome_none;
  if (request->address % CACHE_LINE + request->size > CACHE_LINE)
    sim_error("a request of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it",
              (int)request->size, (unsigned)request->address, (int)param(line));
  const uint32_t number = number_of(request->address), set = set_of(self, number);
  const uint32_t bank = set % (uint32_t)param(banks);
  if (room->banks >> bank & 1 || (param(fill_penalty) > 0 && until(bank_free[bank]))) return mshr_outcome_none;
  const uint32_t miss = find_miss(self, number);
  mshr_outcome outcome = mshr_outcome_none;
  if (miss == MSHR_NONE)
    outcome = look_up(self, request, set, room, way);
  else if (self->target_count[miss] < param(targets))
    outcome = mshr_outcome_joins;
  if (outcome == mshr_outcome_none) return outcome;
  *replied = outcome == mshr_outcome_hit || outcome == mshr_outcome_through ||
             (param(post_writes) && request->op == mem_op_write);
  if (*replied && !lane_free) return mshr_outcome_none;
  room->banks |= UINT64_C(1) << bank;
  room->mshrs -= outcome == mshr_outcome_miss;
  const bool written = outcome == mshr_outcome_hit || outcome == mshr_outcome_through;
  room->writes -= param(write_back) ? outcome == mshr_outcome_miss : written && !memory_only_reads(request->op);
  return outcome;
}

handler(probe) {
  mshr_room room = {.mshrs = (uint32_t)param(mshrs) - self->used,
                    .writes = (uint32_t)param(write_buffer) - self->leaving_count,
                    .alone = true};
  for (int i = 0; i < width(in); i++) {
    mshr_outcome outcome = mshr_outcome_none;
    uint32_t way = MSHR_NOWHERE;
    bool replied = false;
    if (some(in_request, i)) outcome = decide(self, &item(in_request, i), !self->replying[i], &room, &way, &replied);
    if (outcome != mshr_outcome_none) room.alone = false;
    accept(in_request, i, outcome != mshr_outcome_none);
    set(outcome, i, outcome);
    set(found, i, way);
    set(replied, i, replied && outcome != mshr_outcome_none);
    if (outcome == mshr_outcome_passes) room = (mshr_room){.banks = ~UINT64_C(0)};
  }
}

/* The reply to a request whose line is in a way, before it is carried out. */
static typeof_port(in_reply)
    reply_to(const self_t *self, const typeof_port(in_request) * request, uint32_t set, uint32_t way) {
  typeof_port(in_reply) reply = {.tag = request->tag};
  if (request->op == mem_op_write) return reply;
  if (request->op == mem_op_store_conditional) {
    const bool stores = is_linked(self, number_of(request->address));
    memcpy(&reply.data, &stores, 1);
    return reply;
  }
  const uint32_t at = place_of(set, way) + request->address % CACHE_LINE;
  line_read(&reply.data, sizeof reply.data, load_span(lines, at, request->size), request->op, request->size,
            request->sign, low_number(&request->data, sizeof request->data), param(big_endian));
  return reply;
}

handler(reply, i) {
  if (self->replying[i]) {
    send(in_reply, i, self->shown[i]);
  } else if (get(replied, i) && enabled(in_request, i)) {
    const typeof_port(in_request) *request = &item(in_request, i);
    if (get(outcome, i) == mshr_outcome_hit) {
      send(in_reply, i, reply_to(self, request, set_of(self, number_of(request->address)), get(found, i)));
    } else {
      const typeof_port(in_reply) reply = {.tag = request->tag};
      send(in_reply, i, reply);
    }
  } else {
    send_nothing(in_reply, i);
  }
}

/* ---- The write buffer ----------------------------------------------------------------------------------------------
 */

/* A new entry, of so many bytes at an address. */
static inline uint32_t leave(self_t *self, uint32_t address, uint32_t size) {
  const uint32_t k = (self->leaving_first + self->leaving_count++) % (uint32_t)param(write_buffer);
  memset(&self->leaving[k], 0, sizeof self->leaving[k]);
  self->leaving[k].op = mem_op_write;
  self->leaving[k].address = address;
  self->leaving[k].size = (uint8_t)size;
  self->bytes_done[k] = 0;
  return k;
}

/* Bytes that the lines have at a place go to memory. */
static inline void leave_lines(self_t *self, uint32_t address, uint32_t place, uint32_t size) {
  const uint32_t k = leave(self, address, size);
  memory_to_number(&self->leaving[k].data, load_span(lines, place, size), size, param(big_endian));
}

/* Whether something of a line is there. */
static bool leaves(const self_t *self, uint32_t number) {
  for (uint32_t k = 0; k < self->leaving_count; k++) {
    const uint32_t place = (self->leaving_first + k) % (uint32_t)param(write_buffer);
    if (number_of(self->leaving[place].address) == number) return true;
  }
  return false;
}

/* Entries that memory has done make room, the oldest first. */
static inline void retire_writes(self_t *self) {
  while (self->leaving_sent > 0 && self->bytes_done[self->leaving_first] == self->leaving[self->leaving_first].size) {
    self->leaving_first = (self->leaving_first + 1) % (uint32_t)param(write_buffer);
    self->leaving_count--;
    self->leaving_sent--;
  }
  if (self->leaving_count == 0) self->leaving_first = 0;
}

/* ---- Requests that are carried out ---------------------------------------------------------------------------------
 */

/* Carries out a request whose line is in a way. */
static void perform(self_t *self, const typeof_port(in_request) * request, uint32_t set, uint32_t way) {
  const uint32_t number = number_of(request->address);
  const bool conditional = request->op == mem_op_store_conditional, stores = !conditional || is_linked(self, number);
  if (request->op == mem_op_load_linked) {
    self->linked = true;
    self->linked_line = number;
  }
  if (conditional) self->linked = false;
  if (!stores) return;
  if (self->age[set][way]) cache_use_way(self->age[set], (uint32_t)param(ways), way);
  if (memory_only_reads(request->op)) return;
  if (memory_is_atomic(request->op) && request->size > 8)
    sim_error("an atomic operation on %d bytes: at most 8", (int)request->size);
  const uint32_t at = place_of(set, way) + request->address % CACHE_LINE;
  line_write(store_span(lines, at, request->size), request->op, &request->data, sizeof request->data, request->size,
             param(big_endian));
  if (param(write_back))
    self->dirty[set][way] = true;
  else
    leave_lines(self, request->address, at, request->size);
}

/* A way of a set loses its line. */
static void evict(self_t *self, uint32_t set, uint32_t way) {
  if (self->valid[set][way] && self->dirty[set][way]) {
    const uint32_t address = self->number[set][way] * CACHE_LINE;
    leave_lines(self, address, place_of(set, way), CACHE_LINE);
    count(evictions);
    event(evict, address);
  }
  self->valid[set][way] = self->dirty[set][way] = false;
}

/* The way for a new line: of those that do not wait for one. */
static uint32_t choose_way(self_t *self, uint32_t set) {
  const uint64_t taken = filling(self, set);
  bool valid[param(ways)];
  uint8_t age[param(ways)];
  uint32_t way[param(ways)], n = 0;
  for (uint32_t w = 0; w < (uint32_t)param(ways); w++) {
    if (taken >> w & 1) continue;
    valid[n] = self->valid[set][w];
    age[n] = self->age[set][w];
    way[n++] = w;
  }
  const bool random = param(replacement) == cache_replacement_random && param(ways) > 1;
  return way[cache_choose_way(valid, age, n, random, random ? random_bits(&self->rng) : 0)];
}

/* A request waits for its line. */
static void join(self_t *self, uint32_t m, const typeof_port(in_request) * request, uint32_t lane, bool replied) {
  const uint32_t k = (uint32_t)(self->target_first[m] + self->target_count[m]++) % (uint32_t)param(targets);
  self->target[m][k] = *request;
  self->target_lane[m][k] = (uint8_t)lane;
  self->posted[m][k] = replied;
}

/* A new miss. */
static uint32_t begin_miss(self_t *self, const typeof_port(in_request) * request) {
  const uint32_t number = number_of(request->address), set = set_of(self, number), way = choose_way(self, set);
  evict(self, set, way);
  self->number[set][way] = number;
  cache_use_way(self->age[set], (uint32_t)param(ways), way);
  if (self->used == 0) begin_counting(missing);
  begin_counting(outstanding);
  const uint32_t m = self->order[self->used++];
  self->entry[m] =
      (mshr){.number = number,
             .set = set,
             .way = way,
             .first = param(critical_first) ? request->address % CACHE_LINE / (uint32_t)CACHE_BEAT_BYTES : 0};
  self->target_first[m] = 0;
  count(misses);
  event(miss, request->address);
  return m;
}

/* Does with a line what `maintain` asks for, before that passes. */
static void maintain_line(self_t *self, const typeof_port(in_request) * request) {
  const cache_operation operation = (cache_operation)low_number(&request->data, 1);
  const uint32_t number = number_of(request->address);
  const bool by_index = cache_operation_by_index(operation);
  const uint32_t set = by_index ? number % (uint32_t)param(sets) : set_of(self, number);
  const uint32_t way = by_index ? number / (uint32_t)param(sets) % (uint32_t)param(ways) : find(self, set, number);
  if (way == MSHR_NOWHERE || !self->valid[set][way]) return;
  event(maintain, request->address, operation);
  if (!cache_operation_write_back(operation)) self->dirty[set][way] = false;
  evict(self, set, way);
  self->valid[set][way] = !cache_operation_invalidate(operation);
  count(maintained, cache_operation_invalidate(operation));
}

/* A request was transferred. */
static void accept_request(self_t *self, const typeof_port(in_request) * request, uint32_t lane, mshr_outcome outcome,
                           uint32_t way, bool replied) {
  switch (outcome) {
  case mshr_outcome_hit:
    count(hits);
    event(hit, request->address);
    perform(self, request, set_of(self, number_of(request->address)), way);
    break;
  case mshr_outcome_joins:
    count(joined);
    event(join, request->address);
    join(self, find_miss(self, number_of(request->address)), request, lane, replied);
    break;
  case mshr_outcome_miss: join(self, begin_miss(self, request), request, lane, replied); break;
  case mshr_outcome_through: {
    const uint32_t k = leave(self, request->address, request->size);
    memcpy(&self->leaving[k].data, &request->data, request->size);
    count(bypassed);
    break;
  }
  default:
    if (request->op == mem_op_maintain) maintain_line(self, request);
    self->passing = true;
    self->passed = false;
    self->passing_lane = lane;
    self->passenger = *request;
    count(bypassed);
  }
}

/* ---- Memory --------------------------------------------------------------------------------------------------------
 */

/* Memory accepted what was offered. */
static void note_offered(self_t *self) {
  const uint32_t tag = self->offered.tag;
  if (tag < MSHR_WRITES) {
    self->entry[tag / (uint32_t)CACHE_BEATS].requested++;
  } else if (tag == MSHR_PASSENGER) {
    self->passed = true;
  } else {
    self->pieces_sent += self->offered.size;
    if (self->pieces_sent < self->leaving[tag - MSHR_WRITES].size) return;
    self->pieces_sent = 0;
    self->leaving_sent++;
  }
}

/* Who waited gets a reply in the coming cycle. */
static inline void show_reply(self_t *self, uint32_t lane, typeof_port(in_reply) reply) {
  self->replying[lane] = true;
  self->shown[lane] = reply;
}

/* Memory's reply to a beat of a line. */
static void accept_beat(self_t *self, const typeof_port(memory_reply) * reply) {
  mshr *miss = &self->entry[reply->tag / (uint32_t)CACHE_BEATS];
  const uint32_t beat = reply->tag % (uint32_t)CACHE_BEATS;
  miss->arrived |= UINT64_C(1) << beat;
  if (reply->error)
    miss->failed |= UINT64_C(1) << beat;
  else
    number_to_memory(store_span(lines, place_of(miss->set, miss->way) + beat * CACHE_BEAT_BYTES, CACHE_BEAT_BYTES),
                     &reply->data, CACHE_BEAT_BYTES, param(big_endian));
  if (param(fill_penalty) > 0 && miss->arrived == CACHE_ALL_BEATS)
    set_until(bank_free[miss->set % (uint32_t)param(banks)], (uint64_t)param(fill_penalty) + 1);
}

static void accept_reply(self_t *self, const typeof_port(memory_reply) * reply) {
  if (reply->tag < MSHR_WRITES) {
    accept_beat(self, reply);
  } else if (reply->tag == MSHR_PASSENGER) {
    typeof_port(in_reply) passed = {.tag = self->passenger.tag, .error = reply->error, .latency = reply->latency};
    memcpy(&passed.data, &reply->data, sizeof passed.data);
    show_reply(self, self->passing_lane, passed);
    self->passing = false;
  } else {
    const uint32_t k = reply->tag - MSHR_WRITES;
    if (reply->error)
      sim_error("memory replied with an error to a write at 0x%x, which the requester believes done",
                (unsigned)self->leaving[k].address);
    const uint32_t left = self->leaving[k].size - self->bytes_done[k];
    self->bytes_done[k] += left < CACHE_BEAT_BYTES ? left : CACHE_BEAT_BYTES;
  }
}

/* Carries out the first request that waits for a line, if what it needs is here; false: nothing can be done. */
static bool serve(self_t *self, uint32_t m) {
  mshr *miss = &self->entry[m];
  const typeof_port(in_request) *request = &self->target[m][self->target_first[m]];
  const uint32_t lane = self->target_lane[m][self->target_first[m]];
  const bool posted = self->posted[m][self->target_first[m]], writes = !memory_only_reads(request->op);
  const uint64_t needs =
      writes ? CACHE_ALL_BEATS : cache_beats(request->address % CACHE_LINE, request->size, CACHE_BEAT_BYTES);
  if ((needs & ~miss->arrived) || (!posted && self->replying[lane])) return false;
  if (writes && !param(write_back) && self->leaving_count == (uint32_t)param(write_buffer)) return false;
  const bool fails = (miss->failed & needs) != 0;
  typeof_port(in_reply) reply = {.tag = request->tag, .error = fails}; /* mem_fault_bus */
  if (fails && posted)
    sim_error("memory replied with an error to the fetch of the line at 0x%x, which a write waits for whose requester "
              "believes it done",
              (unsigned)(miss->number * CACHE_LINE));
  if (!fails) {
    if (!posted) reply = reply_to(self, request, miss->set, miss->way);
    perform(self, request, miss->set, miss->way);
  }
  if (!posted) show_reply(self, lane, reply);
  self->target_first[m] = (uint8_t)((self->target_first[m] + 1) % param(targets));
  self->target_count[m]--;
  return true;
}

/* Serves who waits, and ends misses of which nothing is left. */
static void advance(self_t *self) {
  for (uint32_t k = 0; k < self->used; k++) {
    const uint32_t m = self->order[k];
    mshr *miss = &self->entry[m];
    while (self->target_count[m] > 0 && miss->arrived && serve(self, m)) {
    }
    if (self->target_count[m] > 0 || miss->arrived != CACHE_ALL_BEATS) continue;
    self->valid[miss->set][miss->way] = miss->failed == 0;
    if (miss->failed)
      self->dirty[miss->set][miss->way] = false;
    else
      event(fill, miss->number * CACHE_LINE, miss->set, miss->way);
    memmove(&self->order[k], &self->order[k + 1], --self->used - k);
    self->order[self->used] = (uint8_t)m;
    k--;
    end_counting(outstanding);
    if (self->used == 0) end_counting(missing);
  }
}

/* ---- What is offered to memory next: beats of the oldest line, else writes, else what passes -----------------------
 */

static bool offer_beat(self_t *self) {
  for (uint32_t k = 0; k < self->used; k++) {
    const uint32_t m = self->order[k];
    const mshr *miss = &self->entry[m];
    if (miss->requested == (uint32_t)CACHE_BEATS || leaves(self, miss->number)) continue;
    const uint32_t beat = (miss->first + miss->requested) % (uint32_t)CACHE_BEATS;
    CACHE_BEAT(self->offered, mem_op_read, CACHE_BEAT_BYTES, miss->number * CACHE_LINE, beat);
    self->offered.tag = m * (uint32_t)CACHE_BEATS + beat;
    return true;
  }
  return false;
}

static bool offer_write(self_t *self) {
  if (self->leaving_sent == self->leaving_count) return false;
  const uint32_t k = (self->leaving_first + self->leaving_sent) % (uint32_t)param(write_buffer);
  const uint32_t left = self->leaving[k].size - self->pieces_sent;
  const uint32_t size = left < CACHE_BEAT_BYTES ? left : CACHE_BEAT_BYTES;
  self->offered = (typeof(self->offered)){.op = mem_op_write,
                                          .size = (uint8_t)size,
                                          .tag = MSHR_WRITES + k,
                                          .address = self->leaving[k].address + self->pieces_sent};
  const uint32_t from = param(big_endian) ? left - size : self->pieces_sent;
  memcpy(&self->offered.data, (const uint8_t *)&self->leaving[k].data + from, size);
  return true;
}

static bool offer_passenger(self_t *self) {
  if (!self->passing || self->passed || self->leaving_count > 0) return false;
  CACHE_RETAG(self->offered, self->passenger, MSHR_PASSENGER, self->passenger.address);
  return true;
}

phase_end() {
  bool moves = some(memory_reply) | transferred(memory_request);
  for (int i = 0; i < width(in); i++) moves |= self->replying[i] | (get(outcome, i) != mshr_outcome_none);
  const bool unlinks = width(unlink) > 0 && some(unlink) && data(unlink) && self->linked;
  if (!moves && !unlinks) {
    if (!self->moved) unchanged();
    self->moved = false;
    return;
  }
  self->moved = true;
  for (int i = 0; i < width(in); i++) self->replying[i] = false;
  if (transferred(memory_request)) note_offered(self);
  for (int i = 0; i < width(in); i++)
    if (transferred(in_request, i))
      accept_request(self, &data(in_request, i), (uint32_t)i, get(outcome, i), get(found, i), get(replied, i));
  if (unlinks) self->linked = false;
  if (some(memory_reply)) accept_reply(self, &data(memory_reply));
  retire_writes(self);
  if (self->used > 0) advance(self);
  self->offering = offer_beat(self) || offer_write(self) || offer_passenger(self);
}

statistics() {
  report(mshr_cycles, counted(outstanding) + self->used * cycle());
  report(miss_cycles, counted(missing) + (self->used > 0) * cycle());
}

next_event() {
  uint64_t next = self->moved ? cycle() : never();
  for (int b = 0; param(fill_penalty) > 0 && b < param(banks); b++)
    if (until(bank_free[b]) && after(until(bank_free[b])) < next) next = after(until(bank_free[b]));
  return next;
}
