// inclusive_cache.c: a cache between two system buses; see inclusive_cache.lss.
//
// A transaction of the bus above is called by its number there from its address to its answer.  Requests are these and,
// with higher numbers, lines that are fetched along with another one of their block: no bus above waits for those, so
// each may be forgotten until it has a place.  At the end of a cycle come first what the bus above reads and writes,
// then the responses of both buses, then snoops.
#include "cache/cache_controller.h"
#include "cache/mesi.h"
#include "memory/memory_state.h"

#define TRANSACTIONS     ((uint32_t)param(transactions))
#define REQUESTS         ((uint32_t)param(requests))
#define BLOCK            ((uint32_t)param(block_lines))
#define LEVEL_WRITE_BACK REQUESTS // tag of requests below that are no transaction's
#define MESI_LINE        ((uint32_t)param(line))
#define MESI_NOWHERE     ((uint32_t)param(ways)) // no way

static inline uint32_t set_of(uint32_t number) {
  return number % (uint32_t)param(sets);
}

// The way that holds a line, or MESI_NOWHERE.
static inline uint32_t find(const self_t *self, uint32_t number) {
  return mesi_find(MESI_SET(self, set_of(number)), number);
}

static inline line_state state_of(const self_t *self, uint32_t set, uint32_t way) {
  return mesi_state(MESI_SET(self, set), way);
}

static void set_state(self_t *self, uint32_t set, uint32_t way, line_state next) {
  MESI_CHANGE(self, set, way, next);
}

// Makes room in a way: what was changed in its line is to be written back.
static void evict(self_t *self, uint32_t set, uint32_t way) {
  MESI_EVICT(self, set, way);
}

// The request that is in this phase, the first; REQUESTS: none.
static inline uint32_t first_in(const self_t *self, refill_phase phase) {
  uint32_t e = 0;
  while (e < REQUESTS && self->phase[e] != phase) e++;
  return e;
}

// Whether a line, or a way, is being fetched for a transaction above.
static inline bool is_fetching(refill_phase phase) {
  return phase == refill_phase_makes_room || phase == refill_phase_requests || phase == refill_phase_requested;
}

init() {
  random_seed(&self->rng);
}

phase_start() {
  for (int i = 0; i < width(empty); i++) accept(empty, i, MESI_IS_EMPTY(self));
  send_if(in_reply, self->replying, self->reply);
  const bus_command recall = {.op = self->recall_op, .address = self->recall_line * MESI_LINE};
  send_if(above_request, self->recall == recall_phase_requests, recall);
  const uint32_t ready = self->active > 0 ? first_in(self, refill_phase_responds) : REQUESTS;
  const bool responds = ready < REQUESTS;
  const typeof_port(above_snoop_response) response = {.result = self->result[responds ? ready : 0], .number = ready};
  send_if(above_snoop_response, responds, response);
  const uint32_t fills = self->fetching > 0 ? first_in(self, refill_phase_requests) : REQUESTS;
  bus_command command = {
      .op = bus_op_write_back, .address = self->victim_line[self->ring.head] * MESI_LINE, .tag = LEVEL_WRITE_BACK};
  if (fills < REQUESTS) {
    const uint32_t number = self->wanted[fills], set = set_of(number);
    command = (bus_command){.op = mesi_request(state_of(self, set, find(self, number)), mesi_writes(self->op[fills])),
                            .address = number * MESI_LINE,
                            .tag = fills,
                            .conditional = self->conditional[fills],
                            .seen = self->seen};
  }
  send_if(below_request, command.tag != LEVEL_WRITE_BACK || mesi_writes_back(self->ring), command);
  send_if(below_snoop_response, self->responding, self->snoop_response);
}

// ---- Transactions above --------------------------------------------------------------------------------------------

// A line is used, and with it the block that it is in.
static void use_block(self_t *self, uint32_t number) {
  for (uint32_t k = 0; k < BLOCK; k++) {
    const uint32_t one = number / BLOCK * BLOCK + k, way = find(self, one);
    if (way != MESI_NOWHERE) cache_use_way(self->age[set_of(one)], (uint32_t)param(ways), way);
  }
}

// A transaction above is answered: its line is here as it needs it, or cannot be had.
static void respond(self_t *self, uint32_t e) {
  const uint32_t number = self->wanted[e], set = set_of(number), way = find(self, number);
  const line_state now = state_of(self, set, way);
  const bus_op op = self->op[e];
  self->phase[e] = refill_phase_responds;
  self->result[e] = self->lost[e]              ? snoop_result_lost
                    : now == line_state_shared ? snoop_result_shared
                                               : snoop_result_none;
  if (now == line_state_invalid) return; // what is read then is an error
  const bool owner = mesi_writes(op) || (op == bus_op_read_shared && now != line_state_shared);
  const line_above least = owner ? line_above_owner : op == bus_op_read_once ? line_above_reading : line_above_copies;
  if (self->held[set][way] < least) self->held[set][way] = least;
  use_block(self, number);
}

// A transaction above lost its line and has nothing left to do: it is answered, unless the bus below has its request.
static void end_conditional(self_t *self, uint32_t e) {
  if (self->phase[e] == refill_phase_requested) return;
  if (self->phase[e] == refill_phase_requests) self->fetching--;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < self->waiting_count; k++)
    if (self->waiting[k] != e) self->waiting[kept++] = self->waiting[k];
  self->waiting_count = kept;
  respond(self, e);
}

// A line leaves that those above need not have given up: the only transaction that is under way for it there writes it.
static void drop_shared(self_t *self, uint32_t number, uint32_t e) {
  const uint32_t set = set_of(number);
  count(invalidations);
  set_state(self, set, find(self, number), line_state_invalid);
  self->lost[e] = true;
  event(lost, number * MESI_LINE);
  if (self->conditional[e]) end_conditional(self, e);
}

// The transaction of its own above is not needed any more.
static void give_up_recall(self_t *self) {
  if (self->recall_for >= 0) self->phase[self->recall_for] = refill_phase_requests;
  self->recall_for = -1;
  if (self->recall == recall_phase_requests)
    self->recall = recall_phase_idle;
  else
    self->recall_void = true;
}

// The number of one of so many transactions that a bus names.
static inline uint32_t known(const self_t *self, uint32_t transaction, uint32_t transactions) {
  if (transaction >= transactions) sim_error("a bus has transaction %u, which does not exist", (unsigned)transaction);
  return transaction;
}

// Another's transaction above.
static void enter(self_t *self, const bus_snoop *snoop) {
  const uint32_t e = known(self, snoop->number, TRANSACTIONS), number = snoop->address / MESI_LINE,
                 set = set_of(number);
  const line_state now = state_of(self, set, find(self, number));
  const bool writes = mesi_writes(snoop->op);
  self->op[e] = snoop->op;
  self->wanted[e] = number;
  self->conditional[e] = snoop->conditional;
  self->lost[e] = snoop->conditional && now == line_state_invalid;
  if (self->lost[e]) {
    respond(self, e);
    return;
  }
  if (snoop->op == bus_op_write_back) {
    self->phase[e] = refill_phase_responds;
    self->result[e] = snoop_result_none;
    return;
  }
  if (now >= (writes ? line_state_exclusive : line_state_shared)) {
    count(hits);
    respond(self, e);
    return;
  }
  self->phase[e] = refill_phase_waits;
  self->waiting[self->waiting_count++] = (uint8_t)e;
  if (now == line_state_shared && self->recall != recall_phase_idle && self->recall_line == number) {
    give_up_recall(self);
    drop_shared(self, number, e);
  }
}

// Its own transaction above.
static void enter_recall(self_t *self, const bus_snoop *snoop) {
  const uint32_t e = known(self, snoop->number, TRANSACTIONS);
  self->phase[e] = refill_phase_responds;
  self->result[e] = self->recall_void ? snoop_result_withdrawn : snoop_result_shared;
  if (self->recall_void) self->recall = recall_phase_idle;
}

static void begin_recall(self_t *self, uint32_t number, bus_op op, int32_t makes_room_for) {
  self->recall = recall_phase_requests;
  self->recall_void = false;
  self->recall_op = op;
  self->recall_line = number;
  self->recall_for = makes_room_for;
}

// Whether a way is not to be used for another line: what it holds, or will hold, is needed.
static bool is_claimed(const self_t *self, uint32_t set, uint32_t way) {
  const uint32_t number = self->number[set][way];
  if (self->valid[set][way] && self->recall != recall_phase_idle && self->recall_line == number) return true;
  for (uint32_t e = 0; e < REQUESTS; e++) {
    if (is_fetching(self->phase[e]) && set_of(self->wanted[e]) == set && self->way[e] == way) return true;
    if (e < TRANSACTIONS && self->phase[e] == refill_phase_waits && self->valid[set][way] && self->wanted[e] == number)
      return true;
  }
  return false;
}

// The way that a new line is put into, or MESI_NOWHERE.
static uint32_t choose_place(self_t *self, uint32_t set) {
  bool claimed[param(ways)];
  uint8_t age[param(ways)];
  uint32_t unclaimed = 0;
  for (uint32_t w = 0; w < (uint32_t)param(ways); w++) {
    claimed[w] = is_claimed(self, set, w);
    unclaimed += !claimed[w];
  }
  if (unclaimed == 0) return MESI_NOWHERE;
  for (uint32_t w = 0; w < (uint32_t)param(ways); w++)
    if (!claimed[w] && !self->valid[set][w]) return w;
  const bool random = param(replacement) == cache_replacement_random;
  const uint32_t skip = random ? (uint32_t)(random_bits(&self->rng) % unclaimed) : 0;
  uint32_t chosen = MESI_NOWHERE, seen = 0;
  memcpy(age, self->age[set], sizeof age);
  for (uint32_t w = 0; w < (uint32_t)param(ways); w++) {
    if (claimed[w]) continue;
    if (random ? seen == skip : chosen == MESI_NOWHERE || age[w] > age[chosen]) chosen = w;
    seen++;
  }
  return chosen;
}

// Whether a line is fetched along with another one.
static bool comes_along(const self_t *self, uint32_t number) {
  for (uint32_t e = TRANSACTIONS; self->along > 0 && e < REQUESTS; e++)
    if (is_fetching(self->phase[e]) && self->wanted[e] == number) return true;
  return false;
}

// A line was missed: the others of its block are to be fetched, too.
static void add_block(self_t *self, uint32_t number) {
  uint32_t e = TRANSACTIONS;
  for (uint32_t k = 0; k < BLOCK; k++) {
    const uint32_t one = number / BLOCK * BLOCK + k;
    if (one == number || find(self, one) != MESI_NOWHERE) continue;
    while (e < REQUESTS && self->phase[e] != refill_phase_idle) e++;
    if (e == REQUESTS) return; // then it is fetched when it is asked for
    self->phase[e] = refill_phase_waits;
    self->op[e] = bus_op_read_shared;
    self->wanted[e] = one;
    self->along++;
  }
}

// Makes room for the line of a transaction that waits, or that is fetched along; false: it goes on waiting.
static bool begin_fetch(self_t *self, uint32_t e) {
  const uint32_t number = self->wanted[e], set = set_of(number), here = find(self, number);
  const uint32_t kept = self->recall != recall_phase_idle && self->recall_for >= 0;
  const bool room = self->ring.count + kept < (uint32_t)param(victims);
  if (self->fetching == (uint32_t)param(mshrs) || mesi_find_victim(MESI_VICTIMS(self), number) >= 0) return false;
  const uint32_t way = here != MESI_NOWHERE ? here : choose_place(self, set);
  if (way == MESI_NOWHERE) return false;
  const bool leaves = here == MESI_NOWHERE && self->valid[set][way], recalls = leaves && self->held[set][way];
  if ((leaves && !room) || (recalls && self->recall != recall_phase_idle)) return false;
  self->phase[e] = recalls ? refill_phase_makes_room : refill_phase_requests;
  self->way[e] = way;
  self->fetching++;
  if (e >= TRANSACTIONS) {
    event(along, number * MESI_LINE);
  } else if (here != MESI_NOWHERE) {
    count(upgrades);
  } else {
    count(misses);
    add_block(self, number);
  }
  if (recalls)
    begin_recall(self, self->number[set][way], bus_op_read_exclusive, (int32_t)e);
  else if (leaves)
    evict(self, set, way);
  return true;
}

// A transaction that waits gets a place for its line, or the line has come along with another one; false: it goes on
// waiting.
static bool begin_transaction(self_t *self, uint32_t e) {
  const uint32_t number = self->wanted[e], set = set_of(number);
  const bool writes = mesi_writes(self->op[e]);
  if (BLOCK == 1) return begin_fetch(self, e);
  if (comes_along(self, number)) return false;
  if (state_of(self, set, find(self, number)) < (writes ? line_state_exclusive : line_state_shared))
    return begin_fetch(self, e);
  count(hits);
  respond(self, e);
  return true;
}

// The oldest transaction that waits and for which there is a place gets it; false: there is none.
static bool begin_one(self_t *self) {
  for (uint32_t k = 0; k < self->waiting_count; k++) {
    if (!begin_transaction(self, self->waiting[k])) continue;
    self->waiting_count--;
    memmove(&self->waiting[k], &self->waiting[k + 1], self->waiting_count - k);
    return true;
  }
  return false;
}

// A line is not fetched along, or has come.
static void end_along(self_t *self, uint32_t e) {
  self->phase[e] = refill_phase_idle;
  self->along--;
}

// Whether a transaction above has a line here, or fetches it.
static bool is_served(const self_t *self, uint32_t number) {
  if (find(self, number) != MESI_NOWHERE || comes_along(self, number)) return true;
  for (uint32_t e = 0; e < TRANSACTIONS; e++)
    if (is_fetching(self->phase[e]) && self->wanted[e] == number) return true;
  return false;
}

// The first line that is to be fetched along and for which there is a place gets it.  Lines that were missed come
// first, also those for which another one leaves above.
static __attribute__((noinline, unused)) void begin_along(self_t *self) {
  for (uint32_t e = 0; e < TRANSACTIONS; e++)
    if (self->phase[e] == refill_phase_makes_room) return;
  for (uint32_t e = TRANSACTIONS; e < REQUESTS; e++) {
    if (self->phase[e] != refill_phase_waits) continue;
    if (is_served(self, self->wanted[e])) {
      end_along(self, e);
      continue;
    }
    if (begin_fetch(self, e)) return;
  }
}

// ---- What the two buses respond ------------------------------------------------------------------------------------

// The line of a transaction above is here, or its upgrade is done.
static void fill(self_t *self, const typeof_port(below_response) * response) {
  const uint32_t e = known(self, response->tag, REQUESTS), number = self->wanted[e], set = set_of(number);
  self->fetching--;
  if (response->lost && find(self, number) != MESI_NOWHERE) drop_shared(self, number, e);
  if (!response->error && !(self->lost[e] && self->conditional[e])) {
    if (response->filled) {
      MESI_PUT(self, set, self->way[e], number, &response->bytes);
      self->held[set][self->way[e]] = line_above_none;
    }
    set_state(self, set, self->way[e], mesi_filled(mesi_writes(self->op[e]), response->shared));
  }
  if (e < TRANSACTIONS) {
    respond(self, e);
    return;
  }
  use_block(self, number);
  end_along(self, e);
}

// Those above have given up what was asked of them.
static void end_recall(self_t *self, const typeof_port(above_response) * response) {
  const uint32_t set = set_of(self->recall_line), way = find(self, self->recall_line);
  self->recall = recall_phase_idle;
  if (way == MESI_NOWHERE) sim_error("the line at 0x%x was recalled, and is not here", self->recall_line * MESI_LINE);
  event(recall, self->recall_line * MESI_LINE, self->recall_op, self->recall_for >= 0);
  if (response->filled) {
    MESI_PUT(self, set, way, self->recall_line, &response->bytes);
    set_state(self, set, way, line_state_modified);
  }
  if (mesi_writes(self->recall_op))
    self->held[set][way] = line_above_none;
  else if (self->recall_op == bus_op_read_shared)
    self->held[set][way] = line_above_copies;
  if (self->recall_for < 0) {
    self->recalled = true;
    return;
  }
  count(rooms_above);
  evict(self, set, way);
  self->phase[self->recall_for] = refill_phase_requests;
}

// ---- Snoops from below ---------------------------------------------------------------------------------------------

// Whether those above must give something up for a transaction below.
static bool goes_up(const self_t *self, uint32_t number, bus_op op) {
  const uint32_t set = set_of(number), way = find(self, number);
  if (way == MESI_NOWHERE || self->held[set][way] == line_above_none) return false;
  return self->held[set][way] == line_above_owner || mesi_writes(op);
}

// The transaction above that waits to write a line that is here to be read, TRANSACTIONS: none.
static uint32_t writer_of(const self_t *self, uint32_t number) {
  for (uint32_t e = 0; e < TRANSACTIONS; e++)
    if ((is_fetching(self->phase[e]) || self->phase[e] == refill_phase_waits) && self->wanted[e] == number) return e;
  return TRANSACTIONS;
}

// What is answered to its own transaction below.
static snoop_result own_snoop(self_t *self, const bus_snoop *snoop) {
  if (snoop->tag == LEVEL_WRITE_BACK) return MESI_FREE_VICTIM(self, &self->snoop_response.bytes);
  const bool has = find(self, snoop->address / MESI_LINE) != MESI_NOWHERE;
  const uint32_t e = known(self, snoop->tag, REQUESTS);
  if (self->lost[e] && self->conditional[e]) {
    self->fetching--;
    respond(self, e);
    return snoop_result_withdrawn;
  }
  return snoop->op == bus_op_upgrade && has ? snoop_result_shared : snoop_result_none;
}

// The first snoop is answered, if nothing above has to be done for it before.
static void take_snoop(self_t *self) {
  const bus_snoop *snoop = &self->snooped[self->snooped_head];
  const uint32_t number = snoop->address / MESI_LINE;
  if (!snoop->own && !self->recalled && goes_up(self, number, snoop->op)) {
    const uint32_t writer = writer_of(self, number);
    if (writer < TRANSACTIONS) {
      if (mesi_writes(snoop->op)) drop_shared(self, number, writer);
    } else {
      if (self->recall != recall_phase_idle) return;
      const bus_op op = mesi_writes(snoop->op) ? bus_op_read_exclusive : snoop->op;
      count(snoops_above);
      begin_recall(self, number, op, -1);
      return;
    }
  }
  self->recalled = false;
  self->responding = true;
  self->snoop_response.number = snoop->number;
  self->snoop_response.result =
      snoop->own ? own_snoop(self, snoop) : MESI_SNOOP(self, set_of(number), snoop, &self->snoop_response.bytes);
  count(snoops_below, !snoop->own);
  self->snooped_head = (self->snooped_head + 1) % (uint32_t)param(snoops);
  self->snooped_count--;
}

// ---- The bus above reads and writes --------------------------------------------------------------------------------

// The reply to a request of the bus above.
static void serve(self_t *self, const typeof_port(in_request) * request) {
  const uint32_t number = request->address / MESI_LINE, set = set_of(number), way = find(self, number);
  const uint32_t at = MESI_PLACE(set, way) + request->address % MESI_LINE;
  self->reply = (typeof_port(in_reply)){.tag = request->tag, .error = way == MESI_NOWHERE}; // mem_fault_bus
  if (way == MESI_NOWHERE) return;
  if (request->op == mem_op_read) {
    if (self->held[set][way] == line_above_reading) self->held[set][way] = line_above_none;
    memory_to_number(&self->reply.data, load_span(lines, at, request->size), request->size, param(big_endian));
    return;
  }
  if (request->op != mem_op_write || !self->only[set][way])
    sim_error("the bus above wrote the line at 0x%x, which is not owned", (unsigned)(number * MESI_LINE));
  number_to_memory(store_span(lines, at, request->size), &request->data, request->size, param(big_endian));
  set_state(self, set, way, line_state_modified);
}

// Empties as many ways as there is room for what was changed in them.
static __attribute__((noinline, unused)) void empty_ways(self_t *self) {
  const uint32_t ways = (uint32_t)param(ways);
  if (self->active > 0 || self->along > 0) self->emptied = 0;
  if (self->active > 0 || self->along > 0 || self->recall != recall_phase_idle) return;
  for (; self->emptied < MESI_PLACES && self->ring.count < (uint32_t)param(victims); self->emptied++) {
    evict(self, self->emptied / ways, self->emptied % ways);
    self->held[self->emptied / ways][self->emptied % ways] = line_above_none;
  }
}

phase_end() {
  const bool empties = width(empty) > 0 && some(empty) && data(empty);
  const bool spoken = empties | some(in_request) | some(above_snoop) | some(above_response) | some(below_snoop) |
                      some(below_response) | self->replying | self->responding;
  if (!spoken && self->active == 0 && self->along == 0 && self->snooped_count == 0 && self->ring.count == 0 &&
      self->recall == recall_phase_idle)
    return;
  self->replying = transferred(in_request);
  if (self->replying) serve(self, &data(in_request));
  if (transferred(above_snoop_response)) {
    self->phase[data(above_snoop_response).number] = refill_phase_idle;
    self->active--;
  }
  if (transferred(above_request)) self->recall = recall_phase_requested;
  if (transferred(below_request)) {
    if (data(below_request).tag == LEVEL_WRITE_BACK)
      self->ring.requested = true;
    else
      self->phase[data(below_request).tag] = refill_phase_requested;
  }
  if (transferred(below_response)) fill(self, &data(below_response));
  if (transferred(above_response)) end_recall(self, &data(above_response));
  if (transferred(above_snoop)) {
    self->active++;
    if (data(above_snoop).own)
      enter_recall(self, &data(above_snoop));
    else
      enter(self, &data(above_snoop));
  }
  self->seen += transferred(below_snoop);
  if (transferred(below_snoop))
    self->snooped[(self->snooped_head + self->snooped_count++) % (uint32_t)param(snoops)] = data(below_snoop);
  self->responding = false;
  if (self->snooped_count > 0) take_snoop(self);
  const bool began = self->waiting_count > 0 && begin_one(self);
  if (BLOCK > 1 && self->along > 0 && !began) begin_along(self);
  if (empties) empty_ways(self);
  if (width(empty) > 0 && transferred(empty)) self->emptied = 0;
  mesi_free_gone(&self->ring, self->victim_gone, (uint32_t)param(victims));
}

next_event() {
  const bool works = self->emptied > 0 || self->replying || self->responding || self->waiting_count > 0 ||
                     self->snooped_count > 0 || self->recall == recall_phase_requests || mesi_writes_back(self->ring);
  if (works) return cycle();
  for (uint32_t e = 0; self->active + self->along > 0 && e < REQUESTS; e++)
    if (self->phase[e] == refill_phase_responds || self->phase[e] == refill_phase_requests ||
        (e >= TRANSACTIONS && self->phase[e] == refill_phase_waits))
      return cycle();
  return unchanged(never());
}
