// pci_bridge.c: a PCI bus, processors and memory; see pci_bridge.lss.
#include <stdio.h>
#include <string.h>

#include "memory/memory_access.h"
#include "memory/memory_error.h"

#define LINE        ((uint64_t)param(line))
#define READ_WORDS  ((uint32_t)param(read_words))
#define WRITE_WORDS ((uint32_t)param(write_words))

init() {
  MEMORY_ERROR_CHOOSE();
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

// ---- The processors' access ----
// A number as the other side has it.
static uint64_t byte_swapped(uint64_t number, uint32_t size) {
  return param(big_endian) ? __builtin_bswap64(number << (64 - 8 * size)) : number;
}

check_state() {
  const bool outstanding = self->phase == pci_access_offered || self->phase == pci_access_open;
  if (outstanding && self->held.size == 0) sim_error("an access of no bytes is on the bus");
  for (uint32_t k = 0; k < self->leaving; k++)
    if (!self->present[(self->head + k) % WRITE_WORDS]) sim_error("a word without bytes goes to memory");
}

static pci_request on_the_bus(const self_t *self) {
  pci_request request = {.configuration = self->configures, .write = self->held.op == mem_op_write};
  request.size = self->held.size;
  request.address = self->configures ? self->held.address & 0xfffff : self->held.address + (uint32_t)param(window_base);
  request.data = request.write ? byte_swapped(self->held.data, request.size) : 0;
  return request;
}

static bool may_reply(const self_t *self) {
  return self->phase == pci_access_replied && !(self->waits && self->undone[!self->epoch]);
}

// A request of a processor; what moves no data and what the bus does not know is answered at once.
static void begin_access(self_t *self, mem_request_64 request, bool configures) {
  const uint32_t in_word = (request.address & 3) + request.size;
  const bool nothing = request.op >= mem_op_barrier;
  const bool wrong = request.op > mem_op_write || request.size > 8 || request.size == 0 || (configures && in_word > 4);
  self->held = request;
  self->configures = configures;
  self->waits = false;
  self->reply = (mem_reply_64){.tag = request.tag, .error = !nothing && wrong};
  self->phase = wrong ? pci_access_replied : pci_access_offered;
  if (wrong) return;
  count(configurations, configures);
  count(accesses, !configures);
}

static void end_access(self_t *self, pci_reply reply) {
  const mem_request_64 *held = &self->held;
  const bool lost = !reply.claimed && self->configures;
  count(absent, lost);
  self->phase = pci_access_replied;
  self->reply.error = reply.error && !lost;
  if (held->op != mem_op_read) return;
  const uint64_t bytes = held->size < 8 ? (UINT64_C(1) << 8 * held->size) - 1 : UINT64_MAX;
  if (!self->reply.error)
    self->reply.data =
        sign_extended(byte_swapped((lost ? UINT64_MAX : reply.data) & bytes, held->size), held->size, held->sign);
  // What comes from now on does not delay the reply.
  self->waits = true;
  count(ordered, self->undone[self->epoch] > 0);
  self->epoch = !self->epoch;
}

// ---- Reads of a device ----
static uint32_t read_slot(uint64_t address) {
  return (uint32_t)(address / 8 % READ_WORDS);
}

static uint32_t beat_bytes(const self_t *self) {
  return self->end - self->at < 8 ? (uint32_t)(self->end - self->at) : 8;
}

// Whether the next beat of a read is there.
static bool beat_ready(const self_t *self) {
  if (!self->active || self->writing) return false;
  if (self->beyond) return true;
  return self->filled[read_slot(self->at)] && self->filled[read_slot(self->at + beat_bytes(self) - 1)];
}

static bus_beat beat_read(const self_t *self) {
  bus_beat beat = {.count = (uint8_t)beat_bytes(self), .last = self->end - self->at <= 8};
  for (uint32_t k = 0; k < beat.count && !self->beyond; k++)
    beat.bytes |= (uint64_t)self->read_bytes[(self->at + k) % (8 * READ_WORDS)] << 8 * k;
  beat.error = beat.last && self->failed;
  return beat;
}

static bool needs_word(const self_t *self) {
  const uint64_t needed = (self->at + beat_bytes(self) - 1) / LINE * LINE;
  return self->active && !self->writing && !self->beyond && !self->used && self->next_read < self->end &&
         self->next_read < needed + LINE * (uint64_t)(1 + param(read_ahead));
}

static void give_beat(self_t *self) {
  const uint64_t to = self->at + beat_bytes(self);
  if (self->beyond) {
    self->at = to;
    self->active = to != self->end;
    return;
  }
  for (uint64_t word = self->at / 8; word < to / 8; word++) self->filled[word % READ_WORDS] = false;
  self->at = to;
  if (self->at == self->end) {
    self->filled[read_slot(self->at)] = false;
    self->active = false;
  }
}

// ---- Writes of a device ----
// Puts a byte into the last word, or a new one.
static void put(self_t *self, uint64_t address, uint8_t byte) {
  uint32_t slot = (self->head + self->used - 1) % WRITE_WORDS;
  if (self->used == self->leaving || self->word[slot] != address / 8 * 8) {
    slot = (self->head + self->used++) % WRITE_WORDS;
    self->word[slot] = address / 8 * 8;
    self->present[slot] = 0;
    self->of_epoch[slot] = self->epoch;
    self->of_master[slot] = self->master;
    self->undone[self->epoch]++;
  }
  self->present[slot] |= (uint8_t)(1 << address % 8);
  self->written_bytes[8 * slot + address % 8] = byte;
  if ((address + 1) % LINE == 0) self->leaving = self->used;
}

static void take_beat(self_t *self, bus_beat beat) {
  if (self->beyond) { // which is dropped
    const uint64_t left = self->end - self->at;
    self->at += beat.count < left ? beat.count : left;
    self->active = self->at != self->end;
    return;
  }
  for (uint32_t k = 0; k < beat.count && self->at < self->end; k++)
    put(self, self->at++, (uint8_t)(beat.bytes >> 8 * k));
  if (self->at < self->end) return;
  self->leaving = self->used;
  self->active = false;
}

// Whether there is room to remember the next word until memory has replied.
static bool may_write(const self_t *self) {
  return self->leaving && self->undone[0] + self->undone[1] < self->used + (uint32_t)param(most_written);
}

// What memory is to do: the oldest word to be written, else the next to be read.
static mem_request_64 at_memory(const self_t *self) {
  if (!self->leaving)
    return (mem_request_64){
        .op = mem_op_read, .size = 8, .address = (uint32_t)self->next_read, .tag = read_slot(self->next_read) << 2};
  const uint32_t slot = self->head, first = (uint32_t)__builtin_ctz(self->present[slot]);
  mem_request_64 request = {.op = mem_op_write, .size = (uint8_t)__builtin_popcount(self->present[slot])};
  request.address = (uint32_t)self->word[slot] + first;
  request.tag = 1 | (uint32_t)self->of_epoch[slot] << 1 | self->next_written << 2;
  request.data = load_number(&self->written_bytes[8 * slot + first], request.size, param(big_endian));
  return request;
}

// ---- Signals ----
phase_start() {
  for (int i = 0; i < width(configuration_request); i++) {
    accept(configuration_request, i, self->phase == pci_access_idle);
    send_if(configuration_reply, i, may_reply(self) && self->configures, self->reply);
  }
  for (int i = 0; i < width(window_reply); i++)
    send_if(window_reply, i, may_reply(self) && !self->configures, self->reply);
  for (int i = 0; i < width(initiator_request); i++)
    send_if(initiator_request, i, self->phase == pci_access_offered, on_the_bus(self));
  for (int i = 0; i < width(bus_request); i++) {
    accept(bus_request, i, !self->active);
    accept(bus_write_data, i, self->active && self->writing && self->used + 2 <= WRITE_WORDS);
    const bool ready = beat_ready(self);
    send_if(bus_read_data, i, ready, ready ? beat_read(self) : (bus_beat){0});
  }
  for (int i = 0; i < width(memory_request); i++)
    send_if(memory_request, i, may_write(self) || needs_word(self), at_memory(self));
}

handler(admit) {
  bool other = false;
  for (int i = 0; i < width(configuration_request); i++) other |= some(configuration_request, i);
  for (int i = 0; i < width(window_request); i++) accept(window_request, i, self->phase == pci_access_idle && !other);
}

// ---- What happens ----
static void begin_transfer(self_t *self, bus_request request) {
  if (request.length == 0) sim_error("a transfer of no bytes");
  self->active = true;
  self->writing = request.write;
  self->master = request.master;
  self->at = request.address;
  self->end = request.address + request.length;
  self->beyond = self->failed = request.address > UINT32_MAX || self->end - 1 > UINT32_MAX;
  self->next_read = request.address / 8 * 8;
  count(beyond_memory, self->beyond);
}

static void follow_memory_request(self_t *self) {
  if (!self->leaving) {
    self->next_read += 8;
    count(memory_reads);
    return;
  }
  count(memory_writes);
  self->written_address[self->next_written] = at_memory(self).address;
  self->written_master[self->next_written] = self->of_master[self->head];
  self->next_written = (self->next_written + 1) % (uint32_t)param(most_written);
  self->head = (self->head + 1) % WRITE_WORDS;
  self->used--;
  self->leaving--;
}

static __attribute__((noinline)) void lose_write(self_t *self, uint32_t at) {
  const unsigned master = self->written_master[at], address = self->written_address[at];
  char name[64];
  if (master < param_length(masters))
    snprintf(name, sizeof name, "\"%s\"", param(masters)[master]);
  else
    snprintf(name, sizeof name, "%u", master);
  MEMORY_ERROR("a write of the bus's master %s failed: nothing responds at address 0x%08x", name, address);
}

static void take_memory_reply(self_t *self, mem_reply_64 reply) {
  if (reply.tag & 1) {
    if (reply.error) lose_write(self, reply.tag >> 2 & ((uint32_t)param(most_written) - 1));
    self->undone[reply.tag >> 1 & 1]--;
    return;
  }
  const uint32_t slot = reply.tag >> 2;
  if (slot >= READ_WORDS) sim_error("a reply with tag 0x%x belongs to no request", (unsigned)reply.tag);
  store_number(&self->read_bytes[8 * slot], reply.error ? 0 : reply.data, 8, param(big_endian));
  self->filled[slot] = true;
  self->failed |= reply.error;
}

phase_end() {
  const bool any = transferred(initiator_request) | transferred(initiator_reply) | transferred(configuration_request) |
                   transferred(window_request) | transferred(memory_request) | transferred(memory_reply) |
                   transferred(bus_read_data) | transferred(bus_write_data) | transferred(bus_request);
  if (any || may_reply(self)) set_until(shown_until, 2);
  if (may_reply(self)) self->phase = pci_access_idle;
  if (transferred(initiator_request)) self->phase = pci_access_open;
  if (transferred(initiator_reply)) end_access(self, data(initiator_reply));
  if (transferred(configuration_request)) begin_access(self, data(configuration_request), true);
  if (transferred(window_request)) begin_access(self, data(window_request), false);
  if (transferred(memory_request)) follow_memory_request(self);
  if (transferred(memory_reply)) take_memory_reply(self, data(memory_reply));
  if (transferred(bus_read_data)) give_beat(self);
  if (transferred(bus_write_data)) take_beat(self, data(bus_write_data));
  if (transferred(bus_request)) begin_transfer(self, data(bus_request));
}

next_event() {
  const bool offers = self->leaving || needs_word(self) || beat_ready(self);
  return until(shown_until) || offers || self->phase == pci_access_offered || may_reply(self) ? cycle()
                                                                                              : unchanged(never());
}

#undef LINE
#undef READ_WORDS
#undef WRITE_WORDS
