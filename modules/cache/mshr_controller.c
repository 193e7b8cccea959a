// mshr_controller.c: a non-blocking cache; see mshr_controller.lss.
//
// At the end of a cycle come first the requests that were accepted, then memory's reply, or the bus's response and who
// is first to wait for that, the bus's snoop, and then all who wait. What is sent in the next cycle, to memory and in
// reply to who waited, is decided here and shown from state; what the bus is asked for is looked up when it is shown.
#include "cache/mshr_controller.h"

#include "memory/memory_arbiter.h"
#include "memory/memory_error.h"

static inline uint32_t number_of(uint32_t address) {
  return address / CACHE_LINE;
}
static inline uint32_t set_of(const self_t *self, uint32_t number) {
  return call(index, number) % (uint32_t)param(sets);
}

// The way that holds a line, or MSHR_NOWHERE.
static inline uint32_t find(const self_t *self, uint32_t set, uint32_t number) {
  for (uint32_t w = 0; w < (uint32_t)param(ways); w++)
    if (self->valid[set][w] && self->number[set][w] == number) return w;
  return MSHR_NOWHERE;
}

// The outstanding miss for a line, or MSHR_NONE.
static inline uint32_t find_miss(const self_t *self, uint32_t number) {
  for (uint32_t k = 0; k < self->used; k++)
    if (self->entry[self->order[k]].number == number) return self->order[k];
  return MSHR_NONE;
}

// Ways of a set that wait for their lines, a bit for each.
static inline uint64_t filling(const self_t *self, uint32_t set) {
  uint64_t ways = 0;
  for (uint32_t k = 0; k < self->used; k++)
    if (self->entry[self->order[k]].set == set) ways |= UINT64_C(1) << self->entry[self->order[k]].way;
  return ways;
}

// What is here of a line in a way, on a bus.
static inline line_state state_of(const self_t *self, uint32_t set, uint32_t way) {
  return mesi_state(MESI_SET(self, set), way);
}

// Whether a line in a way is here so that a request can be carried out.
static inline bool suffices(const self_t *self, uint32_t set, uint32_t way, mem_op op) {
  if (way == MSHR_NOWHERE) return false;
  if (!param(coherent)) return true;
  return state_of(self, set, way) >= (memory_only_reads(op) ? line_state_shared : line_state_exclusive);
}

// Whether the link to its line of the context of a request stands.
static inline bool is_linked(const self_t *self, const typeof_port(in_request) * request) {
  return link_valid(self->linked, self->linked_line, request_context(request->tag, param(contexts), param(context_bit)),
                    number_of(request->address));
}

// Whether nothing is outstanding.
static inline bool idle(const self_t *self) {
  return self->used == 0 && self->write_buffer_count == 0 && self->ring.count == 0 && !self->bypassing;
}

init() {
  MEMORY_ERROR_CHOOSE();
  random_seed(&self->rng);
  for (int m = 0; m < param(mshrs); m++) self->order[m] = (uint8_t)m;
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

// Whether it is a store_conditional that fails.
static inline bool stores_nothing(const self_t *self, const typeof_port(in_request) * request) {
  return request->op == mem_op_store_conditional && !is_linked(self, request);
}

// What those who wait for a miss want of the bus now: a store_conditional that fails wants nothing.
static bus_command command_of(const self_t *self, uint32_t m) {
  const mshr *miss = &self->entry[m];
  bool writes = false, stores = false;
  for (uint32_t k = 0; miss->writes && k < self->target_count[m]; k++) {
    const typeof_port(in_request) *request = &self->target[m][(self->target_first[m] + k) % (uint32_t)param(targets)];
    const bool writer = !memory_only_reads(request->op) && !stores_nothing(self, request);
    writes |= writer;
    stores |= writer && request->op != mem_op_store_conditional;
  }
  return (bus_command){.op = mesi_request(state_of(self, miss->set, miss->way), writes),
                       .address = miss->number * CACHE_LINE,
                       .tag = m,
                       .conditional = writes && !stores,
                       .seen = self->seen};
}

// The oldest miss that is to be asked of the bus, or MSHR_NONE; of a line that is being written back not yet.
static uint32_t requesting(const self_t *self) {
  for (uint32_t k = 0; k < self->used; k++) {
    const mshr *miss = &self->entry[self->order[k]];
    if (miss->phase == miss_phase_requests && self->target_count[self->order[k]] > 0 &&
        mesi_find_victim(MESI_VICTIMS(self), miss->number) < 0)
      return self->order[k];
  }
  return MSHR_NONE;
}

phase_start() {
  for (int i = 0; i < width(empty); i++) accept(empty, i, MESI_IS_EMPTY(self) && self->used == 0);
  send_if(memory_request, self->offering, self->offered);
  if (!param(coherent) || (self->used == 0 && self->ring.count == 0 && !self->responding)) {
    send_nothing(bus_request);
    send_nothing(bus_snoop_response);
    return;
  }
  const uint32_t m = requesting(self);
  const bus_command victim = {
      .op = bus_op_write_back, .address = self->victim_line[self->ring.head] * CACHE_LINE, .tag = MSHR_NONE};
  const bus_command command = m == MSHR_NONE ? victim : command_of(self, m);
  send_if(bus_request, m != MSHR_NONE || mesi_writes_back(self->ring), command);
  send_if(bus_snoop_response, self->responding, self->snoop_response);
}

// ---- Requests ------------------------------------------------------------------------------------------------------

// What becomes of a request whose line no MSHR has.
static inline mshr_outcome look_up(const self_t *self, const typeof_port(in_request) * request, uint32_t set,
                                   const mshr_room *room, uint32_t *way) {
  const uint32_t number = number_of(request->address);
  const bool writes = !memory_only_reads(request->op);
  *way = find(self, set, number);
  if (suffices(self, set, *way, request->op) || stores_nothing(self, request))
    return param(write_back) || !writes || room->writes > 0 ? mshr_outcome_hit : mshr_outcome_none;
  if (!param(write_back) && request->op == mem_op_write)
    return room->writes > 0 ? mshr_outcome_through : mshr_outcome_none;
  if (room->mshrs == 0 || (param(write_back) && room->writes == 0)) return mshr_outcome_none;
  if (*way != MSHR_NOWHERE) return mshr_outcome_miss;
  return __builtin_popcountll(filling(self, set)) < param(ways) ? mshr_outcome_miss : mshr_outcome_none;
}

// Whether a request makes or uses a link, which one does in a cycle.
static inline bool links(mem_op op) {
  return op == mem_op_load_linked || op == mem_op_store_conditional;
}

// Whether a request to a line that no MSHR has must not pass the outstanding misses.
static bool keeps_order(const self_t *self, const typeof_port(in_request) * request) {
  if (request->op != mem_op_read) return self->used > 0;
  for (uint32_t k = 0; k < self->used; k++) {
    const uint32_t m = self->order[k];
    for (uint32_t t = 0; t < self->target_count[m]; t++)
      if (!self->posted[m][(self->target_first[m] + t) % (uint32_t)param(targets)]) return true;
  }
  return false;
}

// Decides about a request; `replied`: it gets its reply in this cycle, if its lane is free for that.
static inline mshr_outcome decide(const self_t *self, const typeof_port(in_request) * request, bool lane_free,
                                  mshr_room *room, uint32_t *way, bool *replied) {
  *replied = false;
  if (request->op >= mem_op_barrier || !call(cacheable, request->address)) {
    if (room->alone && idle(self)) return mshr_outcome_passes;
    if (param(contexts) > 1) room->mshrs = room->writes = 0; // or those of others would let it wait for ever
    return mshr_outcome_none;
  }
  if (self->bypassing || (links(request->op) && room->linked)) return mshr_outcome_none;
  if (request->address % CACHE_LINE + request->size > CACHE_LINE)
    sim_error("a request of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it",
              (int)request->size, (unsigned)request->address, (int)param(line));
  const uint32_t number = number_of(request->address), set = set_of(self, number);
  const uint32_t bank = set % (uint32_t)param(banks);
  if (room->banks >> bank & 1 || (param(fill_penalty) > 0 && !within(bank_free[bank], 0))) return mshr_outcome_none;
  const uint32_t miss = find_miss(self, number);
  mshr_outcome outcome = mshr_outcome_none;
  if (param(total_store_order) && miss == MSHR_NONE && keeps_order(self, request)) return outcome;
  if (miss == MSHR_NONE)
    outcome = look_up(self, request, set, room, way);
  else if (self->target_count[miss] < param(targets))
    outcome = mshr_outcome_joins;
  if (outcome == mshr_outcome_none) return outcome;
  *replied = outcome == mshr_outcome_hit || outcome == mshr_outcome_through ||
             (param(post_writes) && request->op == mem_op_write && self->on_error != memory_error_action_bus_error);
  if (*replied && !lane_free) return mshr_outcome_none;
  room->banks |= UINT64_C(1) << bank;
  room->linked |= links(request->op);
  room->mshrs -= outcome == mshr_outcome_miss;
  const bool written = outcome == mshr_outcome_hit || outcome == mshr_outcome_through;
  room->writes -= param(write_back) ? outcome == mshr_outcome_miss : written && !memory_only_reads(request->op);
  return outcome;
}

// The lane that is so many places behind the one that comes first in this cycle.
static inline int lane_behind(const self_t *self, int k) {
  if (width(in) == 1) return 0;
  const int lane = (int)self->first_lane + k;
  return lane < width(in) ? lane : lane - width(in);
}

check_state() {
  const uint32_t next = (self->write_buffer_first + self->write_buffer_sent) % (uint32_t)param(writes);
  if (self->write_buffer_sent < self->write_buffer_count && self->pieces_sent > self->write_buffer_entry[next].size)
    sim_error("more of a write than it has went to memory");
  for (uint32_t m = 0; m < MSHR_NONE; m++) {
    for (uint32_t k = 0; k < self->target_count[m]; k++) {
      const typeof_port(in_request) *request = &self->target[m][(self->target_first[m] + k) % (uint32_t)param(targets)];
      if (request->address % CACHE_LINE + request->size > CACHE_LINE)
        sim_error("a request that waits for miss %u crosses a line of %d bytes", (unsigned)m, (int)param(line));
    }
  }
}

handler(probe) {
  mshr_room room = {.mshrs = (uint32_t)param(mshrs) - self->used,
                    .writes = (uint32_t)param(write_buffer) - self->write_buffer_count - self->ring.count,
                    .alone = true};
  for (int k = 0; k < width(in); k++) {
    const int i = lane_behind(self, k);
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

// The reply to a request whose line is in a way, before it is carried out.
static typeof_port(in_reply)
    reply_to(const self_t *self, const typeof_port(in_request) * request, uint32_t set, uint32_t way) {
  typeof_port(in_reply) reply = {.tag = request->tag};
  if (request->op == mem_op_write) return reply;
  if (request->op == mem_op_store_conditional) {
    const bool stores = is_linked(self, request);
    memcpy(&reply.data, &stores, 1);
    return reply;
  }
  const uint32_t at = MESI_PLACE(set, way) + request->address % CACHE_LINE;
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

// ---- The write buffer ----------------------------------------------------------------------------------------------

// A new entry, of so many bytes at an address.
static inline uint32_t buffer_write(self_t *self, uint32_t address, uint32_t size) {
  const uint32_t k = (self->write_buffer_first + self->write_buffer_count++) % (uint32_t)param(writes);
  memset(&self->write_buffer_entry[k], 0, sizeof self->write_buffer_entry[k]);
  self->write_buffer_entry[k].op = mem_op_write;
  self->write_buffer_entry[k].address = address;
  self->write_buffer_entry[k].size = (uint8_t)size;
  self->bytes_done[k] = 0;
  return k;
}

// Bytes that the lines have at a place go to memory.
static inline void buffer_line(self_t *self, uint32_t address, uint32_t place, uint32_t size) {
  const uint32_t k = buffer_write(self, address, size);
  memory_to_number(&self->write_buffer_entry[k].data, load_span(lines, place, size), size, param(big_endian));
}

// Whether something of a line is there.
static bool is_buffered(const self_t *self, uint32_t number) {
  for (uint32_t k = 0; k < self->write_buffer_count; k++) {
    const uint32_t place = (self->write_buffer_first + k) % (uint32_t)param(writes);
    if (number_of(self->write_buffer_entry[place].address) == number) return true;
  }
  return false;
}

// Entries that memory has done make room, the oldest first.
static inline void retire_writes(self_t *self) {
  while (self->write_buffer_sent > 0 &&
         self->bytes_done[self->write_buffer_first] == self->write_buffer_entry[self->write_buffer_first].size) {
    self->write_buffer_first = (self->write_buffer_first + 1) % (uint32_t)param(writes);
    self->write_buffer_count--;
    self->write_buffer_sent--;
  }
  if (self->write_buffer_count == 0) self->write_buffer_first = 0;
}

// ---- Requests that are carried out ---------------------------------------------------------------------------------

// The low 64 bits of what is at a place of the lines, for the event.
static inline uint64_t read_at(const self_t *self, const typeof_port(in_request) * request, uint32_t at) {
  const uint32_t size = request->size < 8 ? request->size : 8;
  return load_number(load_span(lines, at, size), size, param(big_endian));
}

// Carries out a request whose line is in a way.
static void perform(self_t *self, const typeof_port(in_request) * request, uint32_t set, uint32_t way) {
  const bool stores = !stores_nothing(self, request);
  if (request->op == mem_op_load_linked) link_begin(CACHE_LINKS(self), request->tag, number_of(request->address));
  if (request->op == mem_op_store_conditional) link_end(CACHE_LINKS(self), request->tag);
  count(failed_conditionals, !stores);
  if (!stores) return;
  if (self->age[set][way]) cache_use_way(self->age[set], (uint32_t)param(ways), way);
  const uint32_t at = MESI_PLACE(set, way) + request->address % CACHE_LINE;
  const bool atomic = memory_is_atomic(request->op);
  if (param(coherent) && !memory_only_reads(request->op)) MESI_CHANGE(self, set, way, line_state_modified);
  if (memory_only_reads(request->op) || atomic)
    event(performed, atomic ? mem_op_read : request->op, request->address, request->size, read_at(self, request, at));
  if (memory_only_reads(request->op)) return;
  links_end_of_others(CACHE_LINKS(self), request->tag, number_of(request->address));
  if (atomic && request->size > 8) sim_error("an atomic operation on %d bytes: at most 8", (int)request->size);
  const uint64_t value = line_write(store_span(lines, at, request->size), request->op, &request->data,
                                    sizeof request->data, request->size, param(big_endian));
  event(performed, request->op == mem_op_store_conditional ? request->op : mem_op_write, request->address,
        request->size, value);
  if (param(coherent)) return;
  if (param(write_back))
    self->dirty[set][way] = true;
  else
    buffer_line(self, request->address, at, request->size);
}

// A way of a set loses its line.
static void evict(self_t *self, uint32_t set, uint32_t way) {
  const uint32_t address = self->number[set][way] * CACHE_LINE;
  if (self->valid[set][way] && self->dirty[set][way]) event(evict, address);
  if (param(coherent)) {
    MESI_EVICT(self, set, way);
    return;
  }
  if (self->valid[set][way] && self->dirty[set][way]) {
    buffer_line(self, address, MESI_PLACE(set, way), CACHE_LINE);
    count(write_backs);
  }
  self->valid[set][way] = self->dirty[set][way] = false;
}

// The way for a new line: of those that do not wait for one.
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

// A request waits for its line.
static void join(self_t *self, uint32_t m, const typeof_port(in_request) * request, uint32_t lane, bool replied) {
  const uint32_t k = (uint32_t)(self->target_first[m] + self->target_count[m]++) % (uint32_t)param(targets);
  self->target[m][k] = *request;
  self->target_lane[m][k] = (uint8_t)lane;
  self->posted[m][k] = replied;
  self->entry[m].writes |= !memory_only_reads(request->op);
}

// A new miss.
static uint32_t begin_miss(self_t *self, const typeof_port(in_request) * request) {
  const uint32_t number = number_of(request->address), set = set_of(self, number), here = find(self, set, number);
  const uint32_t way = here != MSHR_NOWHERE ? here : choose_way(self, set);
  sim_check(find_miss(self, number) == MSHR_NONE, "two MSHRs have the line at 0x%x", (unsigned)(number * CACHE_LINE));
  sim_check(!(filling(self, set) >> way & 1), "two lines come to one way");
  if (here == MSHR_NOWHERE) {
    const bool displaces = self->valid[set][way];
    const uint32_t displaced = self->number[set][way] * CACHE_LINE;
    evict(self, set, way);
    if (displaces) event(displaced, displaced, request->tag);
  }
  self->number[set][way] = number;
  count(upgrades, here != MSHR_NOWHERE);
  cache_use_way(self->age[set], (uint32_t)param(ways), way);
  if (self->used == 0) count_cycles(missing, true);
  count_cycles(outstanding, true);
  const uint32_t m = self->order[self->used++];
  self->entry[m] =
      (mshr){.phase = miss_phase_requests,
             .number = number,
             .set = set,
             .way = way,
             .first = param(critical_first) ? request->address % CACHE_LINE / (uint32_t)CACHE_BEAT_BYTES : 0};
  self->target_first[m] = 0;
  self->emptied = 0;
  count(misses);
  event(miss, request->address, request->tag);
  return m;
}

// Empties ways, when nothing is outstanding.
static __attribute__((noinline, unused)) void empty_ways(self_t *self) {
  if (self->used == 0 && !self->bypassing) MESI_EMPTY_WAYS(self);
}

// Does with a line what `maintain` asks for, before that passes.
static void maintain_line(self_t *self, const typeof_port(in_request) * request) {
  const cache_operation operation = (cache_operation)low_number(&request->data, 1);
  const uint32_t number = number_of(request->address);
  const bool by_index = cache_operation_by_index(operation);
  const uint32_t set = by_index ? number % (uint32_t)param(sets) : set_of(self, number);
  const uint32_t way = by_index ? number / (uint32_t)param(sets) % (uint32_t)param(ways) : find(self, set, number);
  if (way == MSHR_NOWHERE || !self->valid[set][way]) return;
  event(maintain, request->address, operation);
  if (cache_operation_invalidate(operation)) event(invalidated, self->number[set][way] * CACHE_LINE, true);
  if (!cache_operation_write_back(operation)) self->dirty[set][way] = false;
  if (!param(coherent) || self->dirty[set][way] || cache_operation_invalidate(operation)) evict(self, set, way);
  if (!param(coherent)) self->valid[set][way] = !cache_operation_invalidate(operation);
  count(maintained, cache_operation_invalidate(operation));
}

// A request was transferred.
static void accept_request(self_t *self, const typeof_port(in_request) * request, uint32_t lane, mshr_outcome outcome,
                           uint32_t way, bool replied) {
  switch (outcome) {
  case mshr_outcome_hit:
    count(hits);
    event(hit, request->address, request->tag);
    perform(self, request, set_of(self, number_of(request->address)), way);
    break;
  case mshr_outcome_joins:
    count(joined);
    event(join, request->address, request->tag);
    join(self, find_miss(self, number_of(request->address)), request, lane, replied);
    break;
  case mshr_outcome_miss: join(self, begin_miss(self, request), request, lane, replied); break;
  case mshr_outcome_through: {
    const uint32_t k = buffer_write(self, request->address, request->size);
    memcpy(&self->write_buffer_entry[k].data, &request->data, request->size);
    count(bypassed);
    break;
  }
  default:
    if (request->op == mem_op_maintain) maintain_line(self, request);
    self->bypassing = true;
    self->bypass_sent = false;
    self->bypass_lane = lane;
    self->bypass_request = *request;
    count(bypassed);
  }
}

// ---- Memory --------------------------------------------------------------------------------------------------------

// Memory accepted what was offered.
static void note_offered(self_t *self) {
  const uint32_t tag = self->offered.tag;
  if (tag < MSHR_WRITES) {
    self->entry[tag / (uint32_t)CACHE_BEATS].requested++;
  } else if (tag == MSHR_BYPASS_TAG) {
    self->bypass_sent = true;
  } else {
    self->pieces_sent += self->offered.size;
    if (self->pieces_sent < self->write_buffer_entry[tag - MSHR_WRITES].size) return;
    self->pieces_sent = 0;
    self->write_buffer_sent++;
  }
}

// Who waited gets a reply in the coming cycle.
static inline void show_reply(self_t *self, uint32_t lane, typeof_port(in_reply) reply) {
  self->replying[lane] = true;
  self->shown[lane] = reply;
}

// Memory's reply to a beat of a line.
static void accept_beat(self_t *self, const typeof_port(memory_reply) * reply) {
  mshr *miss = &self->entry[reply->tag / (uint32_t)CACHE_BEATS];
  const uint32_t beat = reply->tag % (uint32_t)CACHE_BEATS;
  miss->arrived |= UINT64_C(1) << beat;
  if (reply->error)
    miss->failed |= UINT64_C(1) << beat;
  else
    number_to_memory(store_span(lines, MESI_PLACE(miss->set, miss->way) + beat * CACHE_BEAT_BYTES, CACHE_BEAT_BYTES),
                     &reply->data, CACHE_BEAT_BYTES, param(big_endian));
  if (param(fill_penalty) > 0 && miss->arrived == CACHE_ALL_BEATS)
    set_until(bank_free[miss->set % (uint32_t)param(banks)], (uint64_t)param(fill_penalty) + 1);
}

// Memory has an error for a write whose requester has its reply, or for the line that it is for.
static __attribute__((noinline)) void lose_write(self_t *self, uint32_t address) {
  MEMORY_ERROR("a write failed: nothing responds at address 0x%08x", (unsigned)address);
}

static void accept_reply(self_t *self, const typeof_port(memory_reply) * reply) {
  if (reply->tag < MSHR_WRITES) {
    accept_beat(self, reply);
  } else if (reply->tag == MSHR_BYPASS_TAG) {
    typeof_port(in_reply)
        bypassed = {.tag = self->bypass_request.tag, .error = reply->error, .latency = reply->latency};
    memcpy(&bypassed.data, &reply->data, sizeof bypassed.data);
    show_reply(self, self->bypass_lane, bypassed);
    self->bypassing = false;
  } else {
    const uint32_t k = reply->tag - MSHR_WRITES;
    if (k >= (uint32_t)param(writes)) sim_error("a reply with tag 0x%x belongs to no request", (unsigned)reply->tag);
    if (__builtin_expect(reply->error, false)) lose_write(self, self->write_buffer_entry[k].address);
    const uint32_t left = self->write_buffer_entry[k].size - self->bytes_done[k];
    self->bytes_done[k] += left < CACHE_BEAT_BYTES ? left : CACHE_BEAT_BYTES;
  }
}

// Whether a line is here for a request that waits for it, on a bus; if it came and is not, or not any more, the bus is
// asked anew.
static inline bool has_for(const self_t *self, mshr *miss, const typeof_port(in_request) * request) {
  if (stores_nothing(self, request)) return true;
  if (miss->phase != miss_phase_replies) return false;
  if (miss->failed || suffices(self, miss->set, miss->way, request->op)) return true;
  miss->phase = miss_phase_requests;
  return false;
}

// Carries out the first request that waits for a line, if what it needs is here; false: nothing can be done.
static bool serve(self_t *self, uint32_t m) {
  mshr *miss = &self->entry[m];
  const typeof_port(in_request) *request = &self->target[m][self->target_first[m]];
  const uint32_t lane = self->target_lane[m][self->target_first[m]];
  const bool posted = self->posted[m][self->target_first[m]], writes = !memory_only_reads(request->op);
  const uint64_t needs = param(coherent) || writes
                             ? CACHE_ALL_BEATS
                             : cache_beats(request->address % CACHE_LINE, request->size, CACHE_BEAT_BYTES);
  if (!posted && self->replying[lane]) return false;
  if (param(coherent) ? !has_for(self, miss, request) : (needs & ~miss->arrived) != 0) return false;
  if (writes && !param(write_back) && self->write_buffer_count == (uint32_t)param(write_buffer)) return false;
  const bool fails = (miss->failed & needs) != 0 && !(param(coherent) && stores_nothing(self, request));
  typeof_port(in_reply) reply = {.tag = request->tag, .error = fails}; // mem_fault_bus
  if (fails && posted) lose_write(self, request->address);
  if (!fails) {
    if (!posted) reply = reply_to(self, request, miss->set, miss->way);
    perform(self, request, miss->set, miss->way);
  }
  if (!posted) show_reply(self, lane, reply);
  self->posted[m][self->target_first[m]] = false;
  self->target_first[m] = (uint8_t)((self->target_first[m] + 1) % param(targets));
  self->target_count[m]--;
  return true;
}

// Serves who waits for a line.
static inline void serve_all(self_t *self, uint32_t m) {
  while (self->target_count[m] > 0 && (param(coherent) || self->entry[m].arrived) && serve(self, m)) {
  }
}

// Serves who waits, and ends misses of which nothing is left.
static void advance(self_t *self) {
  for (uint32_t k = 0; k < self->used; k++) {
    const uint32_t m = self->order[k];
    mshr *miss = &self->entry[m];
    serve_all(self, m);
    if (self->target_count[m] > 0) continue;
    if (param(coherent) ? miss->phase == miss_phase_requested : miss->arrived != CACHE_ALL_BEATS) continue;
    if (!param(coherent)) self->valid[miss->set][miss->way] = miss->failed == 0;
    if (!param(coherent) && miss->failed) self->dirty[miss->set][miss->way] = false;
    if (miss->arrived && !miss->failed) event(fill, miss->number * CACHE_LINE, miss->set, miss->way);
    memmove(&self->order[k], &self->order[k + 1], --self->used - k);
    self->order[self->used] = (uint8_t)m;
    k--;
    count_cycles(outstanding, false);
    if (self->used == 0) count_cycles(missing, false);
  }
}

// ---- What is offered to memory next: beats of the oldest line, else writes, else what passes -----------------------

static bool offer_beat(self_t *self) {
  for (uint32_t k = 0; k < self->used; k++) {
    const uint32_t m = self->order[k];
    const mshr *miss = &self->entry[m];
    if (miss->requested == (uint32_t)CACHE_BEATS || is_buffered(self, miss->number)) continue;
    const uint32_t beat = (miss->first + miss->requested) % (uint32_t)CACHE_BEATS;
    CACHE_BEAT(self->offered, mem_op_read, CACHE_BEAT_BYTES, miss->number * CACHE_LINE, beat);
    self->offered.tag = m * (uint32_t)CACHE_BEATS + beat;
    return true;
  }
  return false;
}

static bool offer_write(self_t *self) {
  if (self->write_buffer_sent == self->write_buffer_count) return false;
  const uint32_t k = (self->write_buffer_first + self->write_buffer_sent) % (uint32_t)param(writes);
  const uint32_t left = self->write_buffer_entry[k].size - self->pieces_sent;
  const uint32_t size = left < CACHE_BEAT_BYTES ? left : CACHE_BEAT_BYTES;
  self->offered = (typeof(self->offered)){.op = mem_op_write,
                                          .size = (uint8_t)size,
                                          .tag = MSHR_WRITES + k,
                                          .address = self->write_buffer_entry[k].address + self->pieces_sent};
  const uint32_t from = param(big_endian) ? left - size : self->pieces_sent;
  memcpy(&self->offered.data, (const uint8_t *)&self->write_buffer_entry[k].data + from, size);
  return true;
}

static bool offer_bypass(self_t *self) {
  if (!self->bypassing || self->bypass_sent || self->write_buffer_count > 0) return false;
  CACHE_RETAG(self->offered, self->bypass_request, MSHR_BYPASS_TAG, self->bypass_request.address);
  return true;
}

// ---- The bus -------------------------------------------------------------------------------------------------------

// The bus accepted what it was asked for.
static void note_requested(self_t *self, const bus_command *command) {
  if (command->tag == MSHR_NONE) {
    self->ring.requested = true;
    return;
  }
  self->entry[command->tag].phase = miss_phase_requested;
  self->entry[command->tag].granted = command->op;
}

// The line of a miss is here, or its upgrade is done: who is first to wait for it is served before another can have it.
static void take_line(self_t *self, const typeof_port(bus_response) * response) {
  if (response->tag >= MSHR_NONE) sim_error("the bus responds to miss %u, which does not exist", response->tag);
  mshr *miss = &self->entry[response->tag];
  const bool none = response->lost && !response->filled; // a store_conditional fails, and its copy is void
  miss->phase = miss_phase_replies;
  miss->arrived = none ? 0 : CACHE_ALL_BEATS;
  miss->failed = response->error ? CACHE_ALL_BEATS : 0;
  if (response->lost) links_end(CACHE_LINKS(self), -1, miss->number, miss->number);
  if (none) {
    MESI_CHANGE(self, miss->set, miss->way, line_state_invalid);
  } else if (!response->error) {
    if (response->filled) MESI_PUT(self, miss->set, miss->way, miss->number, &response->bytes);
    MESI_CHANGE(self, miss->set, miss->way, mesi_filled(mesi_writes(miss->granted), response->shared));
  }
  serve_all(self, response->tag);
}

// The answer to its own transaction.
static snoop_result own_snoop(self_t *self, const bus_snoop *snoop) {
  if (snoop->tag == MSHR_NONE) return MESI_FREE_VICTIM(self, &self->snoop_response.bytes);
  if (snoop->tag > MSHR_NONE) sim_error("the bus has miss %u, which does not exist", snoop->tag);
  mshr *miss = &self->entry[snoop->tag];
  serve_all(self, snoop->tag);
  if (self->target_count[snoop->tag] == 0) {
    miss->phase = miss_phase_idle;
    return snoop_result_withdrawn;
  }
  if (snoop->conditional && !mesi_writes(command_of(self, snoop->tag).op)) {
    miss->phase = miss_phase_requests;
    return snoop_result_withdrawn;
  }
  return snoop->op == bus_op_upgrade && self->valid[miss->set][miss->way] ? snoop_result_shared : snoop_result_none;
}

// Another's transaction.
static snoop_result snooped(self_t *self, const bus_snoop *snoop) {
  const uint32_t number = number_of(snoop->address);
  const uint32_t miss = find_miss(self, number);
  const uint32_t way = find(self, set_of(self, number), number);
  if (way != MSHR_NOWHERE && mesi_writes(snoop->op)) event(invalidated, number * CACHE_LINE, false);
  if (mesi_writes(snoop->op)) links_end(CACHE_LINKS(self), -1, number, number);
  const snoop_result result = MESI_SNOOP(self, set_of(self, number), snoop, &self->snoop_response.bytes);
  if (mesi_writes(snoop->op) && miss != MSHR_NONE) serve_all(self, miss); // store_conditionals that fail
  return mesi_with_link(result, snoop->op, links_any(CACHE_LINKS(self), number));
}

// A snoop, and what passes alone: that has its reply when all that was written back is on the bus.
static void advance_bus(self_t *self, const bus_snoop *snoop) {
  self->responding = snoop != NULL;
  self->seen += self->responding;
  if (snoop) {
    self->snoop_response.number = snoop->number;
    self->snoop_response.result = snoop->own ? own_snoop(self, snoop) : snooped(self, snoop);
  }
  mesi_free_gone(&self->ring, self->victim_gone, (uint32_t)param(victims));
  if (!self->bypassing || self->ring.count > 0) return;
  self->bypassing = false;
  show_reply(self, self->bypass_lane,
             (typeof_port(in_reply)){.tag = self->bypass_request.tag,
                                     .error = self->bypass_request.op < mem_op_barrier}); // mem_fault_bus
}

// Whether the bus says something, or is said something.
#define MSHR_SPOKEN                                                                                                    \
  (param(coherent) &&                                                                                                  \
   (transferred(bus_request) || some(bus_response) || some(bus_snoop) || self->responding || self->bypassing))

phase_end() {
  bool moves = some(memory_reply) | transferred(memory_request) | MSHR_SPOKEN;
  for (int i = 0; i < width(in); i++) moves |= self->replying[i] | (get(outcome, i) != mshr_outcome_none);
  bool unlinks = false;
  for (int c = 0; c < width(unlink); c++) unlinks |= some(unlink, c) && data(unlink, c) && self->linked[c];
  const bool empties = width(empty) > 0 && some(empty) && data(empty);
  if (!moves && !unlinks && !empties) {
    self->moved = false;
    return;
  }
  self->moved = true;
  for (int i = 0; i < width(in); i++) self->replying[i] = false;
  if (transferred(memory_request)) note_offered(self);
  if (param(coherent) && transferred(bus_request)) note_requested(self, &data(bus_request));
  uint64_t waited = 0;
  bool accepted = false;
  for (int i = 0; i < width(in); i++) {
    accepted |= transferred(in_request, i);
    if (transferred(in_request, i))
      accept_request(self, &data(in_request, i), (uint32_t)i, get(outcome, i), get(found, i), get(replied, i));
    waited |= (uint64_t)(some(in_request, i) & (get(outcome, i) == mshr_outcome_none)) << i;
  }
  // In turn, or lanes that ask in every cycle could keep a higher one waiting for ever.
  if (width(in) > 1 && accepted) self->first_lane = waited ? (uint8_t)round_robin(waited, self->first_lane) : 0;
  for (int c = 0; c < width(unlink); c++) self->linked[c] &= !(some(unlink, c) && data(unlink, c));
  if (some(memory_reply)) accept_reply(self, &data(memory_reply));
  if (param(coherent) && some(bus_response)) take_line(self, &data(bus_response));
  retire_writes(self);
  if (self->used > 0) advance(self);
  if (param(coherent)) advance_bus(self, some(bus_snoop) ? &data(bus_snoop) : NULL);
  if (empties) empty_ways(self);
  if (width(empty) > 0 && transferred(empty)) self->emptied = 0;
  self->offering = !param(coherent) && (offer_beat(self) || offer_write(self) || offer_bypass(self));
}

statistics() {
  report(mshr_cycles, counted(outstanding) + self->used * cycle());
  report(miss_cycles, counted(missing) + (self->used > 0) * cycle());
}

next_event() {
  uint64_t next = self->moved ? cycle() : never();
  for (int b = 0; param(fill_penalty) > 0 && b < param(banks); b++)
    if (until(bank_free[b]) && after(until(bank_free[b])) < next) next = after(until(bank_free[b]));
  return unchanged(next);
}
