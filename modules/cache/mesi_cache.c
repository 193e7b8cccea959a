/* mesi_cache.c: a write-back cache on a system bus; see mesi_cache.lss.
 *
 * At the end of a cycle come first what the requester did, then the bus's response, then its snoop: a line that arrives
 * serves the request that waited for it before another agent can take it away. */
#include "cache/cache_controller.h"
#include "cache/line_access.h"
#include "cache/mesi.h"
#include "memory/memory_error.h"

#define MESI_LINE    ((uint32_t)param(line))
#define MESI_NOWHERE ((uint32_t)param(ways)) /* no way */

static inline uint32_t set_of(uint32_t number) {
  return number % (uint32_t)param(sets);
}

/* The way that holds a line, or MESI_NOWHERE. */
static inline uint32_t find(const self_t *self, uint32_t number) {
  return mesi_find(MESI_SET(self, set_of(number)), number);
}

static inline line_state state_of(const self_t *self, uint32_t set, uint32_t way) {
  return mesi_state(MESI_SET(self, set), way);
}

static void set_state(self_t *self, uint32_t set, uint32_t way, line_state next) {
  MESI_CHANGE(self, set, way, next);
}

/* Whether the link to its line of the context of a request stands. */
static inline bool is_linked(const self_t *self, const typeof_port(in_request) * request) {
  return link_valid(self->linked, self->linked_line, request_context(request->tag, param(contexts), param(context_bit)),
                    request->address / MESI_LINE);
}

init() {
  MEMORY_ERROR_CHOOSE();
  random_seed(&self->rng);
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

phase_start() {
  for (int i = 0; i < width(empty); i++) accept(empty, i, MESI_IS_EMPTY(self));
  if (self->phase != miss_phase_requests && self->ring.count == 0 && !self->responding) {
    send_nothing(bus_request);
    send_nothing(bus_snoop_response);
    return;
  }
  bus_command command = {.op = self->wanted,
                         .address = self->pending.address & ~(MESI_LINE - 1),
                         .tag = MESI_FILL,
                         .conditional = self->pending.op == mem_op_store_conditional,
                         .seen = self->seen};
  const bool fills = self->phase == miss_phase_requests;
  if (!fills)
    command = (bus_command){
        .op = bus_op_write_back, .address = self->victim_line[self->ring.head] * MESI_LINE, .tag = MESI_WRITE_BACK};
  send_if(bus_request, fills || mesi_writes_back(self->ring), command);
  send_if(bus_snoop_response, self->responding, self->snoop_response);
}

/* Whether a request can be served in this cycle; `accepted`: it is taken, to be served now or later. */
static bool lookup(const self_t *self, const typeof_port(in_request) * request, bool *accepted) {
  const mem_op op = request->op;
  const uint32_t number = request->address / MESI_LINE;
  const bool idle = self->phase == miss_phase_idle;
  *accepted = false;
  if (op >= mem_op_barrier) {
    *accepted = idle && self->ring.count == 0;
    return *accepted && op == mem_op_barrier;
  }
  const bool passes = op == mem_op_read && self->phase != miss_phase_replies && self->phase != miss_phase_maintains &&
                      self->pending.op == mem_op_write && number != self->pending.address / MESI_LINE;
  if (!idle && !passes) return false;
  if (request->address % MESI_LINE + request->size > MESI_LINE)
    sim_error("a request of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it",
              (int)request->size, (unsigned)request->address, (int)param(line));
  const line_state now = state_of(self, set_of(number), find(self, number));
  const bool loses = op == mem_op_store_conditional && !is_linked(self, request);
  const bool hit = loses || (memory_only_reads(op) ? now != line_state_invalid : now >= line_state_exclusive);
  *accepted =
      hit || (idle && self->ring.count < (uint32_t)param(victims) && mesi_find_victim(MESI_VICTIMS(self), number) < 0);
  return hit;
}

/* Whether a request that misses is replied to at once. */
static inline bool posts(const self_t *self, const typeof_port(in_request) * request) {
  return param(post_writes) && request->op == mem_op_write && self->on_error != memory_error_action_bus_error;
}

check_state() {
  const bool misses = self->phase == miss_phase_requests || self->phase == miss_phase_requested;
  if (misses && self->pending.address % MESI_LINE + self->pending.size > MESI_LINE)
    sim_error("the request that missed crosses a line of %d bytes", (int)param(line));
}

handler(probe) {
  bool accepted = false, hit = false;
  if (some(in_request)) hit = lookup(self, &data(in_request), &accepted);
  accept(in_request, accepted);
  set(hit, hit);
  set(replied, hit || (accepted && posts(self, &data(in_request))));
}

/* The reply to a request whose line is here, before it is carried out. */
static typeof_port(in_reply) reply_to(const self_t *self, const typeof_port(in_request) * request, bool stores) {
  typeof_port(in_reply) reply = {.tag = request->tag};
  if (request->op == mem_op_write || request->op >= mem_op_barrier) return reply;
  if (request->op == mem_op_store_conditional) {
    memcpy(&reply.data, &stores, 1);
    return reply;
  }
  const uint32_t number = request->address / MESI_LINE, set = set_of(number);
  line_read(&reply.data, sizeof reply.data,
            load_span(lines, MESI_PLACE(set, find(self, number)) + request->address % MESI_LINE, request->size),
            request->op, request->size, request->sign, low_number(&request->data, sizeof request->data),
            param(big_endian));
  return reply;
}

handler(reply) {
  if (self->phase == miss_phase_replies) {
    send(in_reply, self->reply);
  } else if (get(replied) && enabled(in_request)) {
    send(in_reply, reply_to(self, &item(in_request), is_linked(self, &item(in_request))));
  } else {
    send_nothing(in_reply);
  }
}

/* ---- Requests ------------------------------------------------------------------------------------------------------
 */

/* Carries out a request whose line is here, in a state that it allows; returns its reply. */
static typeof_port(in_reply) perform(self_t *self, const typeof_port(in_request) * request) {
  const uint32_t number = request->address / MESI_LINE, set = set_of(number), way = find(self, number);
  const uint32_t at = MESI_PLACE(set, way) + request->address % MESI_LINE;
  const typeof_port(in_reply) reply = reply_to(self, request, true);
  cache_use_way(self->age[set], (uint32_t)param(ways), way);
  if (request->op == mem_op_load_linked) link_begin(CACHE_LINKS(self), request->tag, number);
  if (memory_only_reads(request->op)) {
    event(performed, request->op, request->address, request->size, low_number(&reply.data, sizeof reply.data));
    return reply;
  }
  set_state(self, set, way, line_state_modified);
  links_end_of_others(CACHE_LINKS(self), request->tag, number);
  if (memory_is_atomic(request->op)) {
    if (request->size > 8) sim_error("an atomic operation on %d bytes: at most 8", (int)request->size);
    event(performed, mem_op_read, request->address, request->size,
          load_number(load_span(lines, at, request->size), request->size, param(big_endian)));
  }
  const uint64_t value = line_write(store_span(lines, at, request->size), request->op, &request->data,
                                    sizeof request->data, request->size, param(big_endian));
  event(performed, request->op == mem_op_store_conditional ? request->op : mem_op_write, request->address,
        request->size, value);
  if (request->op == mem_op_store_conditional) link_end(CACHE_LINKS(self), request->tag);
  return reply;
}

/* Makes room in a way: what was changed in its line is to be written back. */
static void evict(self_t *self, uint32_t set, uint32_t way) {
  MESI_EVICT(self, set, way);
}

/* Does with a line what `maintain` asks for; its reply waits until memory has it. */
static void maintain_line(self_t *self, const typeof_port(in_request) * request) {
  const cache_operation operation = (cache_operation)low_number(&request->data, 1);
  const uint32_t number = request->address / MESI_LINE;
  const bool by_index = cache_operation_by_index(operation);
  const uint32_t set = set_of(number);
  const uint32_t way = by_index ? number / (uint32_t)param(sets) % (uint32_t)param(ways) : find(self, number);
  self->phase = miss_phase_maintains;
  self->reply = (typeof_port(in_reply)){.tag = request->tag};
  if (way == MESI_NOWHERE || !self->valid[set][way]) return;
  event(maintain, request->address, operation);
  if (!cache_operation_write_back(operation)) self->dirty[set][way] = false;
  if (self->dirty[set][way] || cache_operation_invalidate(operation)) evict(self, set, way);
}

/* Empties ways, unless a request waits for its line. */
static __attribute__((noinline, unused)) void empty_ways(self_t *self) {
  if (self->phase == miss_phase_idle) MESI_EMPTY_WAYS(self);
}

/* A request that cannot be served asks the bus for its line. */
static void miss(self_t *self, const typeof_port(in_request) * request) {
  const uint32_t number = request->address / MESI_LINE, set = set_of(number);
  const bool writes = !memory_only_reads(request->op), random = param(replacement) == cache_replacement_random;
  self->way = find(self, number);
  self->wanted = mesi_request(state_of(self, set, self->way), writes);
  if (self->way == MESI_NOWHERE) {
    count(misses);
    self->way = cache_choose_way(self->valid[set], self->age[set], (uint32_t)param(ways), random,
                                 random ? random_bits(&self->rng) : 0);
    evict(self, set, self->way);
  } else {
    count(upgrades);
  }
  self->phase = miss_phase_requests;
  self->emptied = 0;
  self->posted = posts(self, request);
}

/* A request was transferred. */
static void accept_request(self_t *self, const typeof_port(in_request) * request, bool hit) {
  const bool conditional = request->op == mem_op_store_conditional;
  const bool stores = !conditional || is_linked(self, request);
  if (request->op == mem_op_barrier) return;
  if (request->op == mem_op_maintain) {
    maintain_line(self, request);
  } else if (hit) {
    if (stores) {
      count(hits);
      perform(self, request);
    } else {
      count(failed_conditionals);
      link_end(CACHE_LINKS(self), request->tag);
    }
  } else {
    self->pending = *request;
    miss(self, request);
  }
}

/* The request that missed has its reply, or gets it in the coming cycle. */
static void end_miss(self_t *self, typeof_port(in_reply) reply) {
  self->reply = reply;
  self->phase = self->posted ? miss_phase_idle : miss_phase_replies;
}

/* ---- The bus -------------------------------------------------------------------------------------------------------
 */

/* The line of the request that missed is here, or its upgrade is done. */
static void fill(self_t *self, const typeof_port(bus_response) * response) {
  const uint32_t number = self->pending.address / MESI_LINE, set = set_of(number);
  if (response->error) {
    typeof_port(in_reply) reply = {.tag = self->pending.tag, .error = true}; /* mem_fault_bus */
    if (self->posted)
      MEMORY_ERROR("a write failed: nothing responds at address 0x%08x", (unsigned)self->pending.address);
    end_miss(self, reply);
    return;
  }
  if (response->filled) MESI_PUT(self, set, self->way, number, &response->bytes);
  const bool writes = !memory_only_reads(self->pending.op);
  if (response->lost) links_end(CACHE_LINKS(self), -1, number, number);
  if (self->pending.op == mem_op_store_conditional && response->lost) {
    count(failed_conditionals);
    set_state(self, set, self->way, line_state_invalid);
    end_miss(self, (typeof_port(in_reply)){.tag = self->pending.tag});
    return;
  }
  if (self->number[set][self->way] != number)
    sim_error("the line at 0x%x is not where it was asked for", (unsigned)(number * MESI_LINE));
  set_state(self, set, self->way, mesi_filled(writes, response->shared));
  end_miss(self, perform(self, &self->pending));
}

/* What an agent does when its own transaction is on the bus. */
static snoop_result own_snoop(self_t *self, const bus_snoop *snoop) {
  if (snoop->tag == MESI_WRITE_BACK) return MESI_FREE_VICTIM(self, &self->snoop_response.bytes);
  const uint32_t number = snoop->address / MESI_LINE;
  if (self->pending.op == mem_op_store_conditional && !is_linked(self, &self->pending)) {
    count(failed_conditionals);
    end_miss(self, (typeof_port(in_reply)){.tag = self->pending.tag});
    return snoop_result_withdrawn;
  }
  return self->wanted == bus_op_upgrade && self->valid[set_of(number)][self->way] ? snoop_result_shared
                                                                                  : snoop_result_none;
}

/* Another's transaction. */
static snoop_result snooped(self_t *self, const bus_snoop *snoop) {
  const uint32_t number = snoop->address / MESI_LINE;
  if (mesi_writes(snoop->op)) links_end(CACHE_LINKS(self), -1, number, number);
  const snoop_result result = MESI_SNOOP(self, set_of(number), snoop, &self->snoop_response.bytes);
  return mesi_with_link(result, snoop->op, links_any(CACHE_LINKS(self), number));
}

/* The bus has not granted the request for a line yet, and the line, or the link to it, may be lost. */
static void reconsider(self_t *self) {
  if (self->phase != miss_phase_requests) return;
  const uint32_t number = self->pending.address / MESI_LINE;
  if (self->pending.op == mem_op_store_conditional && !is_linked(self, &self->pending)) {
    count(failed_conditionals);
    end_miss(self, (typeof_port(in_reply)){.tag = self->pending.tag});
  } else if (self->wanted == bus_op_upgrade && !self->valid[set_of(number)][self->way]) {
    self->wanted = bus_op_read_exclusive;
  }
}

phase_end() {
  bool unlinks = false;
  for (int c = 0; c < width(unlink); c++) unlinks |= some(unlink, c) && data(unlink, c) && self->linked[c];
  const bool empties = width(empty) > 0 && some(empty) && data(empty);
  const bool spoken = some(in_request) | some(bus_response) | some(bus_snoop) | unlinks | empties;
  if (!spoken && !self->responding && self->ring.count == 0 &&
      (self->phase == miss_phase_idle || self->phase == miss_phase_requested))
    return unchanged();
  if (self->phase == miss_phase_replies) self->phase = miss_phase_idle;
  if (self->phase == miss_phase_maintains && self->ring.count == 0) self->phase = miss_phase_replies;
  if (transferred(bus_request)) {
    if (data(bus_request).tag == MESI_FILL)
      self->phase = miss_phase_requested;
    else
      self->ring.requested = true;
  }
  if (transferred(in_request)) accept_request(self, &data(in_request), get(hit));
  for (int c = 0; c < width(unlink); c++) self->linked[c] &= !(some(unlink, c) && data(unlink, c));
  if (transferred(bus_response)) fill(self, &data(bus_response));
  self->responding = transferred(bus_snoop);
  self->seen += self->responding;
  if (self->responding) {
    self->snoop_response.number = data(bus_snoop).number;
    self->snoop_response.result =
        data(bus_snoop).own ? own_snoop(self, &data(bus_snoop)) : snooped(self, &data(bus_snoop));
  }
  reconsider(self);
  if (empties) empty_ways(self);
  if (width(empty) > 0 && transferred(empty)) self->emptied = 0;
  mesi_free_gone(&self->ring, self->victim_gone, (uint32_t)param(victims));
}

next_event() {
  const bool speaks = self->phase == miss_phase_requests || self->phase == miss_phase_replies;
  const bool maintained = self->phase == miss_phase_maintains && self->ring.count == 0;
  return speaks || maintained || self->responding || self->emptied > 0 || mesi_writes_back(self->ring) ? cycle()
                                                                                                       : never();
}
