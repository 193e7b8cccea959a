// system_bus.c: a snooping bus with split transactions; see system_bus.lss.
//
// A transaction is in a slot until it has ended; `order` has the slots from the oldest to the youngest, which is the
// order of their addresses on the bus.  The number of its slot is what agents call a transaction by.
#include <string.h>

#include "memory/memory_access.h"
#include "memory/memory_arbiter.h"
#include "memory/memory_error.h"

#define BUS_LINE   ((uint32_t)param(line))
#define BUS_MEMORY (-1) // as the driver of the bus, or who sends a line
#define BUS_NOBODY (-2) // sends a line: none is needed
#define BUS_BYTES  ((uint64_t)param(width) / 8)
#define BUS_BEATS  (BUS_LINE > BUS_BYTES ? BUS_LINE / BUS_BYTES : 1)

// Whether a transaction ends with data for its agent.
static inline bool fills(bus_op op) {
  return op == bus_op_read_shared || op == bus_op_read_exclusive || op == bus_op_upgrade || op == bus_op_read_once;
}

// Whether the agent of a transaction that ends with data needs them: a store_conditional that fails does not.
static inline bool moves(const self_t *self, int32_t slot) {
  if (self->lost[slot] && self->of[slot].conditional) return false;
  return !self->keeps[slot] || self->dirty[slot];
}

// The slot in which something is in this phase, the oldest; -1: none.
static int32_t oldest(const self_t *self, bus_phase phase) {
  for (uint32_t k = 0; k < self->active; k++)
    if (self->phase[self->order[k]] == phase) return self->order[k];
  return -1;
}

// The transaction whose agent gets its response in this cycle: that whose last beat is on the bus, else one without
// data; -1: none.
static int32_t responds(const self_t *self) {
  if (self->on_bus >= 0 && within(bus_ends, 0) && self->phase[self->on_bus] == bus_phase_moving &&
      fills(self->of[self->on_bus].op))
    return self->on_bus;
  return oldest(self, bus_phase_done);
}

static bool is_busy(const self_t *self, uint32_t address) {
  for (uint32_t k = 0; k < self->active; k++)
    if (self->of[self->order[k]].address == address) return true;
  return false;
}

init() {
  MEMORY_ERROR_CHOOSE();
  self->on_bus = self->memory_slot = self->home_lane = -1;
  self->driver = BUS_MEMORY;
  for (int i = 0; i < width(agent_request); i++)
    if (param(home)[0] && !strcmp(key(agent_request, i), param(home))) self->home_lane = i;
  if (param(home)[0] && self->home_lane < 0) sim_input_error("no agent has the key '%s'", param(home));
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

check_state() {
  uint32_t active = 0;
  for (int s = 0; s < param(outstanding); s++) {
    active += self->phase[s] != bus_phase_idle;
    if (self->dirty[s] && self->owner[s] < 0) sim_error("the line of transaction %d is newer, but no agent's", s);
  }
  if (active != self->active)
    sim_error("%u transactions are in progress, not %u", (unsigned)active, (unsigned)self->active);
}

// Whether the link of a conditional request has ended by a transaction that its agent had not seen.
static bool has_ended(const self_t *self, const bus_command *command) {
  const uint32_t unseen = self->begun - command->seen, places = sizeof self->written / sizeof self->written[0];
  for (uint32_t k = 0; k < unseen && k < places; k++)
    if (self->written[(self->begun - 1 - k) % places] == command->address / BUS_LINE + 1) return true;
  return false;
}

// Whether there is room for a transaction of this agent.
static inline bool has_room(const self_t *self, int lane) {
  const uint32_t kept = self->home_lane >= 0 && lane != self->home_lane;
  return self->active + kept < (uint32_t)param(outstanding);
}

handler(arbitrate) {
  uint64_t requests = 0;
  const bool free = self->on_bus < 0 || within(bus_ends, 0);
  if (free && self->active < (uint32_t)param(outstanding) && oldest(self, bus_phase_ready) < 0)
    for (int i = 0; i < width(agent_request); i++)
      if (some(agent_request, i) && has_room(self, i) && !is_busy(self, data(agent_request, i).address))
        requests |= UINT64_C(1) << i;
  set(winner, requests ? round_robin(requests, self->last) : -1);
}

handler(grant, i) {
  accept(agent_request, i, get(winner) == i);
}

// The request to memory of a slot.
static typeof_port(memory_request) memory_request_of(const self_t *self, int32_t slot) {
  typeof_port(memory_request) request = {
      .op = mem_op_read, .size = (uint8_t)BUS_LINE, .tag = (uint32_t)slot, .address = self->of[slot].address};
  if (self->phase[slot] == bus_phase_reads) return request;
  const uint8_t *bytes = (const uint8_t *)&self->bytes[slot];
  request.op = mem_op_write;
  if (self->of[slot].op == bus_op_write_part && !self->dirty[slot]) {
    request.address += self->first[slot];
    request.size = (uint8_t)self->count[slot];
    bytes += self->first[slot];
  }
  memory_to_number(&request.data, bytes, request.size, param(big_endian));
  return request;
}

phase_start() {
  for (int i = 0; i < width(quiet); i++) send(quiet, i, self->active == 0);
  const bool ends = self->on_bus >= 0 && within(bus_ends, 0);
  const int32_t shown = ends && self->phase[self->on_bus] == bus_phase_address ? self->on_bus : -1;
  const bus_command *of = &self->of[shown >= 0 ? shown : 0];
  for (int i = 0; i < width(agent_snoop); i++) {
    const bool own = shown >= 0 && self->lane[shown] == i;
    const bus_snoop snoop = {.op = of->op,
                             .own = own,
                             .address = of->address,
                             .tag = own ? of->tag : 0,
                             .number = (uint32_t)shown,
                             .conditional = of->conditional};
    send_if(agent_snoop, i, shown >= 0, snoop);
  }
  const int32_t slot = self->active > 0 ? responds(self) : -1;
  if (slot < 0) {
    for (int i = 0; i < width(agent_response); i++) send_nothing(agent_response, i);
  } else {
    typeof_port(agent_response) response = {.tag = self->of[slot].tag,
                                            .shared = self->shared[slot],
                                            .filled = fills(self->of[slot].op) && moves(self, slot),
                                            .lost = self->lost[slot],
                                            .error = self->failed[slot]};
    if (response.filled) response.bytes = self->bytes[slot];
    for (int i = 0; i < width(agent_response); i++) {
      if (self->lane[slot] == i)
        send(agent_response, i, response);
      else
        send_nothing(agent_response, i);
    }
  }
  if (self->memory_slot >= 0)
    send(memory_request, memory_request_of(self, self->memory_slot));
  else
    send_nothing(memory_request);
}

// A transaction ends.
static void finish_transaction(self_t *self, int32_t slot) {
  uint32_t k = 0;
  while (k < self->active && self->order[k] != slot) k++;
  if (k == self->active) sim_error("a transaction ends that was not in progress");
  self->active--;
  memmove(&self->order[k], &self->order[k + 1], self->active - k);
  self->phase[slot] = bus_phase_idle;
  event(finished, self->lane[slot], self->of[slot].op, self->of[slot].address);
}

// An agent answers a snoop.
static void take_snoop_response(self_t *self, int lane, const typeof_port(agent_snoop_response) * response) {
  const uint32_t slot = response->number;
  if (slot >= (uint32_t)param(outstanding) || self->phase[slot] != bus_phase_snooped ||
      !(self->missing[slot] >> lane & 1))
    sim_error("the agent '%s' answers no snoop", key(agent_snoop_response, lane));
  self->missing[slot] &= ~(UINT64_C(1) << lane);
  if (self->lane[slot] == lane) {
    self->withdrawn[slot] = response->result == snoop_result_withdrawn;
    self->keeps[slot] = response->result == snoop_result_shared;
    self->first[slot] = response->first;
    self->count[slot] = response->count;
    if (response->result == snoop_result_modified) self->part[slot] = response->bytes;
    return;
  }
  if (response->result == snoop_result_none) return;
  if (response->result == snoop_result_lost) {
    self->lost[slot] = true;
    return;
  }
  const bool owns = response->result != snoop_result_shared;
  if (self->owner[slot] >= 0 || (owns && self->shared[slot]))
    sim_error("the line at 0x%x is owned by one of the agents '%s' and '%s', and the other has a copy",
              (unsigned)self->of[slot].address, key(agent_snoop_response, lane),
              self->owner[slot] >= 0 ? key(agent_snoop_response, self->owner[slot]) : "another");
  self->shared[slot] = true;
  if (!owns) return;
  self->owner[slot] = lane;
  self->dirty[slot] = response->result == snoop_result_modified;
  self->bytes[slot] = response->bytes;
}

// What an agent writes joins the line that its owner sent.
static void merge_part(self_t *self, int32_t slot) {
  const uint32_t first = self->first[slot], bytes = self->count[slot];
  if (first + bytes > BUS_LINE || bytes == 0)
    sim_error("the agent '%s' writes %u bytes from byte %u of a line of %u on",
              key(agent_snoop_response, self->lane[slot]), (unsigned)bytes, (unsigned)first, (unsigned)BUS_LINE);
  memcpy((uint8_t *)&self->bytes[slot] + first, (const uint8_t *)&self->part[slot] + first, bytes);
}

// All answers to a transaction are in: where its line comes from, and what is next.
static void decide(self_t *self, int32_t slot) {
  int32_t from = self->owner[slot];
  if (self->withdrawn[slot]) {
    count(withdrawals);
    if (!self->dirty[slot]) {
      finish_transaction(self, slot);
      return;
    }
    self->of[slot].op = bus_op_write_back; // its owner has given the line away, so it goes to memory
    self->lane[slot] = from;
    self->part[slot] = self->bytes[slot];
  }
  if (self->lost[slot]) self->keeps[slot] = false;
  const bus_op op = self->of[slot].op;
  if (op == bus_op_upgrade && self->keeps[slot] && self->owner[slot] >= 0)
    sim_error("the agents '%s' and '%s' have copies of the line at 0x%x, which one of them owns",
              key(agent_snoop_response, self->lane[slot]), key(agent_snoop_response, self->owner[slot]),
              (unsigned)self->of[slot].address);
  if (fills(op) && !moves(self, slot)) {
    self->phase[slot] = bus_phase_done;
    from = BUS_NOBODY;
  } else if (op == bus_op_write_back || op == bus_op_write_line) {
    self->bytes[slot] = self->part[slot];
    self->phase[slot] = bus_phase_ready;
    from = BUS_NOBODY;
  } else if (op == bus_op_write_part) {
    merge_part(self, slot);
    self->phase[slot] = bus_phase_ready;
    if (from < 0) from = BUS_NOBODY;
  } else {
    self->phase[slot] = from >= 0 ? bus_phase_ready : bus_phase_reads;
  }
  count(interventions, from >= 0);
  event(supplied, self->lane[slot], op, self->of[slot].address, from);
}

// Beats of the data that a transaction has ready: a part that joins its owner's line moves as well as that.
static uint64_t beats_of(const self_t *self, int32_t slot) {
  if (self->of[slot].op != bus_op_write_part) return BUS_BEATS;
  const uint64_t part = (self->count[slot] + BUS_BYTES - 1) / BUS_BYTES;
  return part + (self->dirty[slot] ? BUS_BEATS : 0);
}

// Gives the bus to somebody from the coming cycle on.
static void occupy(self_t *self, int32_t slot, int32_t driver, uint64_t cycles) {
  set_until(bus_ends, cycles + (driver != self->driver ? (uint64_t)param(turnaround) : 0));
  self->driver = driver;
  self->on_bus = slot;
}

// The oldest line that is ready has the bus from the coming cycle on.
static void move_line(self_t *self) {
  const int32_t ready = oldest(self, bus_phase_ready);
  if (ready < 0) return;
  const uint64_t beats = beats_of(self, ready);
  self->phase[ready] = bus_phase_moving;
  count(data_cycles, beats);
  occupy(self, ready, fills(self->of[ready].op) ? self->owner[ready] : self->lane[ready], beats);
}

// A request has the bus from the coming cycle on.
static void begin_transaction(self_t *self, int32_t lane, const bus_command *command) {
  uint32_t slot = 0;
  while (self->phase[slot] != bus_phase_idle) slot++;
  self->phase[slot] = bus_phase_address;
  self->lane[slot] = self->last = lane;
  self->of[slot] = *command;
  self->missing[slot] = width(agent_snoop) == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (width(agent_snoop) & 63)) - 1;
  self->owner[slot] = -1;
  self->dirty[slot] = self->shared[slot] = self->keeps[slot] = self->withdrawn[slot] = self->failed[slot] = false;
  self->lost[slot] = command->conditional && has_ended(self, command);
  self->order[self->active++] = (uint8_t)slot;
  if (self->lost[slot]) {
    self->phase[slot] = bus_phase_done;
    count(failed_conditionals);
    return;
  }
  count(address_cycles);
  count(transactions);
  occupy(self, (int32_t)slot, lane, 1);
}

// The last cycle of an address or of data on the bus.
static void leave_bus(self_t *self) {
  const int32_t slot = self->on_bus;
  self->on_bus = -1;
  if (self->phase[slot] == bus_phase_address) {
    const bus_op op = self->of[slot].op;
    const bool writes =
        op == bus_op_read_exclusive || op == bus_op_upgrade || op == bus_op_write_line || op == bus_op_write_part;
    self->written[self->begun++ % (sizeof self->written / sizeof self->written[0])] =
        writes ? self->of[slot].address / BUS_LINE + 1 : 0;
    event(begun, self->lane[slot], self->of[slot].op, self->of[slot].address);
    self->phase[slot] = bus_phase_snooped;
    set_until(snoop_ends[slot], (uint64_t)param(snoop_cycles));
  } else if (!fills(self->of[slot].op) ||
             (self->of[slot].op == bus_op_read_shared && self->dirty[slot] && !self->keeps[slot])) {
    self->phase[slot] = bus_phase_writes;
  } else {
    finish_transaction(self, slot);
  }
}

// Memory's reply.
static void take_reply(self_t *self, const typeof_port(memory_reply) * reply) {
  if (reply->tag >= (uint32_t)param(outstanding)) sim_error("memory replies to no transaction");
  const int32_t slot = (int32_t)reply->tag;
  if (self->phase[slot] == bus_phase_reading) {
    number_to_memory((uint8_t *)&self->bytes[slot], &reply->data, BUS_LINE, param(big_endian));
    self->failed[slot] = reply->error;
    self->phase[slot] = bus_phase_ready;
    return;
  }
  const bus_op op = self->of[slot].op;
  if (op == bus_op_write_line || op == bus_op_write_part) {
    self->failed[slot] = reply->error;
    self->phase[slot] = bus_phase_done;
    return;
  }
  if (__builtin_expect(reply->error, false))
    MEMORY_ERROR("the write of a line failed: nothing responds at address 0x%08x", (unsigned)self->of[slot].address);
  finish_transaction(self, slot);
}

static inline void count_waiting(self_t *self, uint64_t cycles) {
  for (int i = 0; i < width(agent_request); i++) count(waited[i], self->waiting >> i & 1 ? cycles : 0);
}

phase_end() {
  const bool quiet = self->active == 0;
  if (get(winner) < 0 && quiet && !(width(quiet) > 0 && self->changed)) {
    bool spoken = false;
    for (int i = 0; i < width(agent_snoop_response); i++) spoken |= some(agent_snoop_response, i);
    if (!spoken) return;
  }
  self->waiting = 0;
  for (int i = 0; i < width(agent_request); i++)
    if (some(agent_request, i) && get(winner) != i) self->waiting |= UINT64_C(1) << i;
  count_waiting(self, 1);
  for (int i = 0; i < width(agent_snoop); i++)
    if ((some(agent_snoop, i) && !acked(agent_snoop, i)) || (some(agent_response, i) && !acked(agent_response, i)))
      sim_error("the agent '%s' has no room for what the bus sends it, and that cannot wait", key(agent_snoop, i));
  const int32_t responded = responds(self);
  bool any = responded >= 0 || get(winner) >= 0 || (self->on_bus >= 0 && within(bus_ends, 0));
  if (responded >= 0 && responded != self->on_bus) finish_transaction(self, responded);
  if (self->on_bus >= 0 && within(bus_ends, 0)) leave_bus(self);
  for (int i = 0; i < width(agent_snoop_response); i++) {
    if (!transferred(agent_snoop_response, i)) continue;
    take_snoop_response(self, i, &data(agent_snoop_response, i));
    any = true;
  }
  any |= transferred(memory_request) | transferred(memory_reply);
  if (transferred(memory_request)) {
    const bool reads = self->phase[self->memory_slot] == bus_phase_reads;
    self->phase[self->memory_slot] = reads ? bus_phase_reading : bus_phase_writing;
    if (reads)
      count(memory_reads);
    else
      count(memory_writes);
    self->memory_slot = -1;
  }
  if (transferred(memory_reply)) take_reply(self, &data(memory_reply));
  for (uint32_t k = 0; k < self->active; k++) {
    const int32_t slot = self->order[k];
    if (self->phase[slot] != bus_phase_snooped || self->missing[slot] || !within(snoop_ends[slot], 0)) continue;
    const uint32_t active = self->active;
    decide(self, slot);
    any = true;
    k -= self->active < active;
  }
  for (int i = 0; i < width(agent_request); i++)
    if (transferred(agent_request, i)) begin_transaction(self, i, &data(agent_request, i));
  if (self->on_bus < 0) move_line(self);
  if (self->memory_slot < 0) self->memory_slot = oldest(self, bus_phase_reads);
  if (self->memory_slot < 0) self->memory_slot = oldest(self, bus_phase_writes);
  if (width(quiet) > 0) self->changed = quiet != (self->active == 0);
  if (any) set_until(changes, 2);
}

// Cycles in which nothing but time passes are not stepped, and count all the same.
skip(n) {
  if (self->waiting) count_waiting(self, n);
}

next_event() {
  if (self->changed || until(changes)) return cycle();
  if (self->memory_slot >= 0 || oldest(self, bus_phase_done) >= 0) return cycle();
  uint64_t wait = self->on_bus >= 0 ? until(bus_ends) : never();
  for (uint32_t k = 0; k < self->active; k++) {
    const uint32_t slot = self->order[k];
    if (self->phase[slot] == bus_phase_snooped && !self->missing[slot] && until(snoop_ends[slot]) < wait)
      wait = until(snoop_ends[slot]);
  }
  return unchanged(after(wait));
}
