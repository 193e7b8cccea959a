// pci_bus.c: transactions and transfers on a PCI bus; see pci_bus.lss.
#include <string.h>

#include "bus/bus_transfer.h"
#include "memory/memory_arbiter.h"

init() {
  self->last = self->fault = -1;
  self->ready_at = never();
  random_seed(&self->rng);
  FAULT_PLAN_REQUIRE(bus_faults, BUS_FAULTS, BUS_FAULT_KINDS);
}

// ---- The transfer on the bus ----
static uint32_t beat_bytes(const self_t *self) {
  const uint32_t left = self->length - self->moved;
  return left < 8 ? left : 8;
}

// When the bytes up to `moved` have been carried: their words by the bus, and the bytes at `pci_rate`.
static exact_time carried(const self_t *self, uint32_t moved) {
  return exact_time_later(BUS_CARRIED(moved), exact_time_add(self->start, moved, self->byte_time));
}

static void await_beat(self_t *self) {
  self->ready_at = exact_time_instant(carried(self, self->moved + beat_bytes(self)));
}

static bool moves(const self_t *self, bool write) {
  return self->active && self->write == write && due(self->ready_at);
}

// Whether no data move between memory and the master.
static bool aborted(const self_t *self) {
  return self->fault == BUS_FAULT_READ_ABORT || self->fault == BUS_FAULT_WRITE_ABORT;
}

// Whether the beat of a write that moves now is not stored.
static bool swallowed(const self_t *self) {
  return aborted(self) || (self->fault == BUS_FAULT_WRITE_PARITY && self->moved == 0);
}

// Whether the processors' transaction is at the targets in this cycle.
static bool arrived(const self_t *self) {
  return self->phase == host_window_offered && due(self->arrives);
}

// ---- Signals ----
phase_start() {
  for (int i = 0; i < width(initiator_reply); i++)
    send_if(initiator_reply, i, self->phase == host_window_replied, self->reply);
  for (int i = 0; i < width(target_request); i++)
    send_if(target_request, i, arrived(self) && (self->silent >> i & 1), self->request);
  for (int i = 0; i < width(memory_request); i++) send_if(memory_request, i, self->requesting, self->at_memory);
  for (int i = 0; i < width(master_request); i++) accept(master_request, i, !(self->waiting_lanes >> i & 1));
}

handler(give) {
  const bool gives = moves(self, true) && !self->requesting && !swallowed(self);
  bus_beat beat = {0};
  bool any = false;
  for (int i = 0; i < width(master_write_data); i++) {
    if (i != self->lane || !gives || !some(master_write_data, i)) continue;
    beat = item(master_write_data, i);
    any = true;
  }
  for (int i = 0; i < width(memory_write_data); i++) send_if(memory_write_data, i, any, beat);
}

handler(give_surely) {
  bool surely = false;
  for (int i = 0; i < width(master_write_data); i++) surely |= i == self->lane && enabled(master_write_data, i);
  for (int i = 0; i < width(memory_write_data); i++) enable(memory_write_data, i, surely);
}

handler(take) {
  const bool ready = moves(self, true) && !self->requesting && (swallowed(self) || acked(memory_write_data));
  for (int i = 0; i < width(master_write_data); i++) accept(master_write_data, i, ready && i == self->lane);
}

// What memory has read reaches the master; the error of a write, and a read that is aborted, have no data.
handler(show) {
  const bool reads = moves(self, false) && !self->requesting, made = aborted(self);
  bus_beat beat = {.count = (uint8_t)beat_bytes(self), .last = true, .error = true};
  const bool comes = width(memory_read_data) && some(memory_read_data, 0);
  if (reads && made) {
    beat.last = beat.error = beat_bytes(self) == self->length - self->moved;
  } else if (comes) {
    beat = data(memory_read_data);
    if (self->fault == BUS_FAULT_READ_PARITY) {
      if (self->moved == 0) beat.bytes ^= 1;
      beat.error |= beat.last;
    }
  }
  const bus_beat failure = {.last = true, .error = true};
  for (int i = 0; i < width(master_read_data); i++) {
    if (self->failed && self->failed_lane == i)
      send(master_read_data, i, failure);
    else
      send_if(master_read_data, i, reads && i == self->lane && (made || comes), beat);
  }
}

handler(show_surely) {
  for (int i = 0; i < width(master_read_data); i++)
    enable(master_read_data, i, (self->failed && self->failed_lane == i) || aborted(self) || enabled(memory_read_data));
}

handler(have) {
  bool taken = false;
  for (int i = 0; i < width(master_read_data); i++)
    taken |= moves(self, false) && !self->requesting && !aborted(self) && i == self->lane &&
             !(self->failed && self->failed_lane == i) && acked(master_read_data, i);
  for (int i = 0; i < width(memory_read_data); i++) accept(memory_read_data, i, taken);
}

// ---- Transfers ----
static void count_fault(self_t *self, int fault) {
  count(read_aborts, fault == BUS_FAULT_READ_ABORT);
  count(read_parity, fault == BUS_FAULT_READ_PARITY);
  count(write_aborts, fault == BUS_FAULT_WRITE_ABORT);
  count(write_parity, fault == BUS_FAULT_WRITE_PARITY);
}

// A beat of so many bytes has moved; an end that made the bus wait shifts the rest.
static void advance(self_t *self, uint32_t bytes) {
  self->moved += bytes;
  BUS_SHIFT_REST(carried(self, self->moved));
  self->free_at = carried(self, self->moved);
  if (self->moved < self->length) {
    await_beat(self);
    return;
  }
  self->active = false;
  self->ready_at = never();
  count_fault(self, self->fault);
  if (self->write && self->fault >= 0) {
    self->failed = true;
    self->failed_lane = self->lane;
  }
  self->fault = -1;
}

static void begin_transfer(self_t *self, int lane) {
  const bus_request request = self->waiting[lane];
  const uint64_t ticks = ticks_per_second();
  self->waiting_lanes &= ~(UINT64_C(1) << lane);
  self->last = self->lane = lane;
  self->active = true;
  self->write = request.write;
  self->length = request.length;
  self->moved = 0;
  self->first_byte = (uint32_t)request.address & (uint32_t)(param(bus_width) - 1);
  self->word_time = bus_word_time((double)param(bus_frequency), param(overhead), ticks);
  const exact_time latency = bus_time(request.write ? 0 : param(read_latency), ticks);
  self->byte_time = param(pci_rate) ? bus_word_time((double)param(pci_rate) / 8, 0, ticks) : 0;
  self->free_at = self->start = exact_time_sum(bus_begins(self->free_at, self->waiting_since[lane]), latency);
  const uint64_t words = bus_words(self->first_byte, request.length, (uint32_t)param(bus_width));
  count(busy, exact_time_nanoseconds(exact_time_add(latency, words, self->word_time), ticks));
  self->begun[request.write]++;
  self->fault = -1;
  if (request.write) {
    count(writes);
    count(written_bytes, request.length);
  } else {
    count(reads);
    count(read_bytes, request.length);
  }
  if (param(faults)[0])
    self->fault = BUS_FAULT_STRIKES(param(faults), request.write, self->begun[request.write], random_bits(&self->rng));
  // Of a write whose first beat is not stored memory is asked for the rest.
  const uint32_t lost = aborted(self) ? request.length : self->fault == BUS_FAULT_WRITE_PARITY ? beat_bytes(self) : 0;
  self->at_memory = (bus_request){.write = request.write,
                                  .address = request.address + lost,
                                  .length = request.length - lost,
                                  .master = (uint8_t)lane};
  self->requesting = self->at_memory.length > 0;
  await_beat(self);
  event(transfer, lane, request.write, request.address, request.length);
}

// ---- The processors' transaction ----
// It is at the targets when it has crossed the bus.
static void begin_transaction(self_t *self) {
  const uint64_t ticks = ticks_per_second(), word = bus_word_time((double)param(bus_frequency), param(overhead), ticks);
  self->free_at = exact_time_add(bus_begins(self->free_at, self->since), 1, word);
  count(busy, exact_time_nanoseconds(exact_time_add(exact_time_at(0), 1, word), ticks));
  self->arrives = exact_time_instant(self->free_at);
  self->phase = host_window_offered;
  self->silent = 0;
  for (int i = 0; i < width(target_request); i++)
    if (!self->request.configuration || (self->request.address >> 15 & 31) == (uint32_t)param(device_numbers)[i])
      self->silent |= 1u << i;
  self->reply = (pci_reply){.error = true, .data = UINT64_MAX};
}

// When the words of the next beat have been carried, if they begin at this time.
static exact_time after_beat(const self_t *self, exact_time begin) {
  const uint32_t width = (uint32_t)param(bus_width), end = self->moved + beat_bytes(self);
  const uint64_t words = bus_words(self->first_byte, end, width) - bus_words(self->first_byte, self->moved, width);
  return exact_time_add(begin, words, self->word_time);
}

// A transaction of processors between two beats of a transfer that `pci_rate` slows down, if the words of the next beat
// have not begun; they wait for the bus.
static void begin_between_beats(self_t *self) {
  const exact_time planned = carried(self, self->moved + beat_bytes(self));
  if (!exact_time_before(after_beat(self, exact_time_at(now())), planned)) return;
  begin_transaction(self);
  const exact_time earliest = after_beat(self, self->free_at);
  if (!exact_time_before(planned, earliest)) return;
  self->start = exact_time_sum(self->start, exact_time_since(planned, earliest));
  await_beat(self);
}

static void follow_transaction(self_t *self, uint32_t replied) {
  if (self->phase == host_window_replied) self->phase = host_window_idle;
  if (arrived(self)) self->phase = host_window_open;
  if (self->phase != host_window_open) return;
  self->silent &= ~replied;
  if (self->silent) return;
  count(unclaimed, !self->reply.claimed);
  self->phase = host_window_replied;
}

// ---- What happens ----
phase_end() {
  uint32_t replied = 0;
  for (int i = 0; i < width(target_reply); i++) {
    if (!transferred(target_reply, i)) continue;
    replied |= 1u << i;
    if (item(target_reply, i).claimed) self->reply = item(target_reply, i);
  }
  follow_transaction(self, replied);
  if (transferred(initiator_request)) {
    self->request = data(initiator_request);
    self->since = now();
    self->phase = host_window_waits;
    count(transactions);
  }
  for (int i = 0; i < width(master_request); i++) {
    if (transferred(master_request, i)) BUS_KEEP_REQUEST(i, "master", data(master_request, i));
  }
  if (transferred(memory_request)) self->requesting = false;
  uint32_t bytes = 0;
  for (int i = 0; i < width(master_request); i++) {
    if (!self->active || i != self->lane) continue;
    if (self->write && transferred(master_write_data, i)) bytes = item(master_write_data, i).count;
    if (self->write || (self->failed && self->failed_lane == i)) continue;
    if (transferred(master_read_data, i)) bytes = item(master_read_data, i).count;
  }
  if (self->failed) event(refused);
  self->ended = self->failed || bytes;
  self->failed = false;
  if (bytes) advance(self, bytes < beat_bytes(self) ? bytes : beat_bytes(self));
  if (!due(bus_free_from(self->free_at, clock_period()))) return;
  if (self->phase == host_window_waits) {
    if (self->active)
      begin_between_beats(self);
    else
      begin_transaction(self);
    return;
  }
  if (self->active) return;
  const int lane = self->waiting_lanes ? call(policy, self->waiting_lanes, self->last) : -1;
  if (lane >= 0 && lane < 64 && (self->waiting_lanes >> lane & 1)) begin_transfer(self, lane);
}

next_event() {
  const bool transaction = self->phase != host_window_idle && self->phase != host_window_open;
  const bool begins = self->waiting_lanes && !self->active;
  if (self->requesting || self->failed || self->ended || transaction || begins) return cycle();
  if (!self->active) return unchanged(never());
  return unchanged(due(self->ready_at) ? cycle() : cycle() + (self->ready_at - now() - 1) / clock_period() + 1);
}
