// host_bus.c: host memory, I/O bus, window accesses and interrupts; see host_bus.lss.
#include <string.h>

#include "bus/bus_transfer.h"
#include "memory/memory_arbiter.h"

// Copies what one request of the software carries, mostly all that its port holds.
static inline void copy(void *to, const void *from, uint32_t size) {
  if (__builtin_expect(size == param(cpu_width) / 8, true))
    memcpy(to, from, param(cpu_width) / 8);
  else
    memcpy(to, from, size);
}

// What a bus word takes.
static uint64_t time_of_word(const self_t *self) {
  return bus_word_time((double)param(bus_frequency), param(overhead), ticks_per_second());
}

init() {
  self->last = self->fault = -1;
  self->ready_at = self->interrupt_at = self->line_cycle = self->wake = never();
  for (int i = 0; i < width(memory_request); i++) self->reply_cycle[i] = never();
  random_seed(&self->rng);
  FAULT_PLAN_REQUIRE(bus_faults, BUS_FAULTS, BUS_FAULT_KINDS);
}

check_state() {
  const uint64_t memory = (uint64_t)param(memory_size);
  if (self->moved > self->length)
    sim_error("%u bytes of a transfer of %u have moved", (unsigned)self->moved, (unsigned)self->length);
  if (!self->bad && (self->place > memory || self->length > memory - self->place))
    sim_error("a transfer of %u bytes goes beyond host memory", (unsigned)self->length);
  const uint64_t end = self->plain ? (uint64_t)self->plain_end + 8 : 0;
  if (self->plain && (self->bad || self->moved >= self->plain_end || end > self->length))
    sim_error("a plain beat follows byte %u of a transfer of %u", (unsigned)self->moved, (unsigned)self->length);
}

static uint32_t beat_bytes(const self_t *self) {
  uint32_t left = self->length - self->moved;
  return left < 8 ? left : 8;
}

// The next beat of a read.
static __attribute__((noinline)) bus_beat beat_read(const self_t *self) {
  uint32_t count = beat_bytes(self);
  bool last = count == self->length - self->moved;
  bus_beat beat = {.count = (uint8_t)count, .last = last, .error = (self->bad || self->corrupts) && last};
  if (self->bad) return beat;
  memcpy(&beat.bytes, load_span(bytes, self->place + self->moved, count), count);
  if (self->corrupts && self->moved == 0) beat.bytes ^= 1;
  return beat;
}

handler(observe) {
  for (int i = 0; i < width(bus_request); i++) accept(bus_request, i, !(self->waiting_lanes >> i & 1));
}

handler(reply) {
  for (int i = 0; i < width(memory_request); i++) {
    if (__builtin_expect(is_cycle(self->reply_cycle[i]), false))
      send(memory_reply, i, self->cpu_reply[i]);
    else
      send_nothing(memory_reply, i);
  }
}

handler(open) {
  for (int i = 0; i < width(window_request); i++) accept(window_request, i, self->window_state == host_window_idle);
}

handler(interrupt_software) {
  for (int i = 0; i < width(interrupting); i++) send(interrupting, i, due(self->interrupt_at));
}

phase_start() {
  if (!due(self->wake)) {
    for (int i = 0; i < width(bus_request); i++) {
      accept(bus_write_data, i, false);
      send_nothing(bus_read_data, i);
    }
    for (int i = 0; i < width(window_request); i++) {
      send_nothing(window_reply, i);
      send_nothing(device_request, i);
    }
    return;
  }
  if (__builtin_expect(self->plain, true)) {
    bus_beat beat = {.count = 8};
    memcpy(&beat.bytes, load_span(bytes, self->place + self->moved, 8), 8);
    for (int i = 0; i < width(bus_request); i++) {
      accept(bus_write_data, i, self->writer == i);
      send_if(bus_read_data, i, self->reader == i, beat);
    }
    for (int i = 0; i < width(window_request); i++) {
      send_nothing(window_reply, i);
      send_nothing(device_request, i);
    }
    return;
  }
  bool ready = due(self->ready_at);
  bus_beat beat = {0}, failure = {.last = true, .error = true};
  if (ready && !self->write) beat = beat_read(self);
  for (int i = 0; i < width(bus_request); i++) {
    accept(bus_write_data, i, ready && self->writer == i);
    if (self->failed && self->failed_lane == i)
      send(bus_read_data, i, failure);
    else
      send_if(bus_read_data, i, ready && self->reader == i, beat);
  }
  for (int i = 0; i < width(window_request); i++) {
    send_if(window_reply, i, self->window_state == host_window_replied, self->held_reply);
    send_if(device_request, i, self->window_state == host_window_offered, self->window_pending);
  }
}

// Whether a transfer that begins is to fail, and how: its number is that of its direction.
static void draw_fault(self_t *self) {
  const uint64_t number = self->begun[self->write];
  int struck = BUS_FAULT_STRIKES(param(faults), self->write, number, random_bits(&self->rng));
  self->fault = struck;
  if (struck < 0) return;
  bool aborts = struck == BUS_FAULT_READ_ABORT || struck == BUS_FAULT_WRITE_ABORT;
  self->bad |= aborts;
  self->corrupts = !aborts;
}

// The device gets the error in this cycle.
static void count_fault(self_t *self, int fault) {
  count(read_aborts, fault == BUS_FAULT_READ_ABORT);
  count(read_parity, fault == BUS_FAULT_READ_PARITY);
  count(write_aborts, fault == BUS_FAULT_WRITE_ABORT);
  count(write_parity, fault == BUS_FAULT_WRITE_PARITY);
}

// The interrupt line has changed.
__attribute__((noinline)) static void change_line(self_t *self, bool line) {
  self->interrupt_at =
      line ? now() + exact_time_instant(bus_time(param(interrupt_latency), ticks_per_second())) : never();
  count(interrupts, line);
  self->line = line;
  self->line_cycle = cycle() + 1;
}

// The next beat moves in the first cycle whose edge is not before its last byte.
static inline void await_beat(self_t *self) {
  self->ready_at = exact_time_instant(BUS_CARRIED(self->moved + beat_bytes(self)));
}

// A device that made the bus wait shifts the rest of its transfer.
static __attribute__((noinline)) void shift_rest(self_t *self) {
  BUS_SHIFT_REST(BUS_CARRIED(self->moved));
}

// A beat of `count` bytes has moved.
static __attribute__((noinline)) void advance(self_t *self, uint32_t count) {
  self->moved += count;
  if (self->write) shift_rest(self);
  if (self->moved < self->length) {
    await_beat(self);
    return;
  }
  self->active = false;
  self->ready_at = never();
  self->free_at = BUS_CARRIED(self->moved);
  self->failed = (self->bad || self->corrupts) && self->write;
  self->failed_lane = self->lane;
  self->failed_fault = self->fault;
  if (!self->write) count_fault(self, self->fault);
  self->fault = -1;
}

// A plain beat has moved: whole, nothing wrong with it, and more to come.
static inline void move_plain_beat(self_t *self) {
  self->moved += 8;
  // Before, no device made the bus wait.
  if (self->write && now() >= self->ready_at + clock_period()) shift_rest(self);
  await_beat(self);
  self->wake = self->ready_at;
  self->plain = self->moved < self->plain_end;
}

// The free bus goes to the transfer that waits in `lane`.
static void begin_transfer(self_t *self, int lane) {
  bus_request request = self->waiting[lane];
  uint64_t offset = request.address - (uint64_t)param(memory_base);
  self->waiting_lanes &= ~(UINT64_C(1) << lane);
  self->last = self->lane = lane;
  self->active = true;
  self->write = request.write;
  self->reader = request.write ? -1 : lane;
  self->writer = request.write ? lane : -1;
  self->place = offset;
  self->length = request.length;
  self->moved = 0;
  self->first_byte = (uint32_t)request.address & (uint32_t)(param(bus_width) - 1);
  self->bad = offset > (uint64_t)param(memory_size) || offset + request.length > (uint64_t)param(memory_size);
  self->word_time = time_of_word(self);
  const exact_time latency = bus_time(request.write ? 0 : param(read_latency), ticks_per_second());
  self->start = exact_time_sum(bus_begins(self->free_at, self->waiting_since[lane]), latency);
  const uint64_t words = bus_words(self->first_byte, request.length, (uint32_t)param(bus_width));
  count(busy, exact_time_nanoseconds(exact_time_add(latency, words, self->word_time), ticks_per_second()));
  self->begun[request.write]++;
  if (request.write) {
    count(writes);
    count(written_bytes, request.length);
  } else {
    count(reads);
    count(read_bytes, request.length);
  }
  self->corrupts = false;
  if (param(faults)[0]) draw_fault(self);
  self->plain_end = self->bad || self->corrupts || self->length < 8 ? 0 : self->length - 8;
  await_beat(self);
  // A device that gets the error of a write in the next cycle gets no beat in it.
  uint64_t after = now() + clock_period() + 1;
  if (self->failed && self->failed_lane == lane && !self->write && self->ready_at < after) self->ready_at = after;
  event(transfer, lane, request.write, request.address, request.length);
}

// The bus is free, and a device waits for it.
static void arbitrate(self_t *self) {
  if (self->window_state == host_window_waits) {
    // One word, at the device when it has crossed the bus.
    const uint64_t word = time_of_word(self);
    self->free_at = exact_time_add(bus_begins(self->free_at, self->window_since), 1, word);
    count(busy, exact_time_nanoseconds(exact_time_add(exact_time_at(0), 1, word), ticks_per_second()));
    self->window_state = host_window_offered;
    return;
  }
  int lane = call(policy, self->waiting_lanes, self->last);
  if (lane >= 0 && lane < 64 && (self->waiting_lanes >> lane & 1)) begin_transfer(self, lane);
}

// Until when nothing happens by itself, and whether that is then a plain beat.
static inline void schedule_wake(self_t *self) {
  bool notifies = self->failed || self->window_state >= host_window_offered;
  self->plain = !notifies && self->active && self->moved < self->plain_end;
  if (notifies)
    self->wake = 0;
  else if (self->active)
    self->wake = self->ready_at;
  else
    self->wake = self->waiting_lanes || self->window_state == host_window_waits
                     ? bus_free_from(self->free_at, clock_period())
                     : never();
}

// The software accesses its own memory; the reply leaves in the next cycle.
static inline void refer_to_memory(self_t *self, int lane, const typeof_port(memory_request) * request) {
  const uint32_t size = request->size;
  const uint64_t offset = (uint64_t)request->address - (uint64_t)param(memory_base);
  typeof_port(memory_reply) reply = {.tag = request->tag, .latency = 1};
  if (request->op >= mem_op_barrier) {
    // All that came before it was done when it got its reply.
  } else if (request->op > mem_op_write || offset > (uint64_t)param(memory_size) ||
             offset + size > (uint64_t)param(memory_size) || size > param(cpu_width) / 8) {
    reply.error = true;
  } else if (request->op == mem_op_write) {
    copy(store_span(bytes, offset, size), &request->data, size);
  } else {
    copy(&reply.data, load_span(bytes, offset, size), size);
  }
  self->cpu_reply[lane] = reply;
  self->reply_cycle[lane] = cycle() + 1;
}

// A device sent a beat of a transfer to memory.
static inline void write_beat(self_t *self, bus_beat beat) {
  const uint32_t left = self->length - self->moved, count = beat.count < left ? beat.count : left;
  const bool lost = self->bad || (self->corrupts && self->moved == 0);
  if (!lost) memcpy(store_span(bytes, self->place + self->moved, count), &beat.bytes, count);
  if (count) advance(self, count);
}

phase_end() {
  bool line = false;
  for (int i = 0; i < width(interrupt); i++) {
    uint32_t bits = some(interrupt, i) ? data(interrupt, i) : 0;
    line |= (bits & (uint32_t)param(interrupt_bits)) && !(bits & (uint32_t)param(masking_bits));
  }
  bool moved = line != self->line;
  for (int i = 0; i < width(bus_request); i++) moved |= transferred(bus_request, i);
  for (int i = 0; i < width(memory_request); i++) moved |= transferred(memory_request, i);
  for (int i = 0; i < width(window_request); i++) moved |= transferred(window_request, i);
  if (!moved && !due(self->wake)) return;
  // Mostly, a plain beat is due, and nothing else.
  if (!moved && self->plain) {
    bool moves = false, whole = true;
    for (int i = 0; i < width(bus_request); i++) {
      moves |= transferred(bus_read_data, i);
      if (!transferred(bus_write_data, i)) continue;
      whole = item(bus_write_data, i).count == 8;
      if (whole) memcpy(store_span(bytes, self->place + self->moved, 8), &item(bus_write_data, i).bytes, 8);
      moves = whole;
    }
    if (moves) move_plain_beat(self);
    if (__builtin_expect(whole, true)) return;
  }
  if (moved || __builtin_expect(self->failed || self->window_state >= host_window_offered, false)) {
    if (__builtin_expect(line != self->line, false)) change_line(self, line);
    // The software in its own memory.
    for (int i = 0; i < width(memory_request); i++)
      if (transferred(memory_request, i)) refer_to_memory(self, i, &data(memory_request, i));
    // The software's request to the device.
    if (width(window_request)) {
      if (self->window_state == host_window_replied) {
        self->window_state = host_window_idle;
        self->window_cycle = cycle() + 1;
      }
      if (self->window_state == host_window_offered && transferred(device_request))
        self->window_state = host_window_open;
      if (self->window_state == host_window_open && transferred(device_reply)) {
        self->held_reply = data(device_reply);
        self->window_state = host_window_replied;
      }
      if (transferred(window_request)) {
        self->window_pending = data(window_request);
        self->window_since = now();
        self->window_state = host_window_waits;
        count(window_requests);
      }
    }
    // Devices that request a transfer, and one that got an error.
    for (int i = 0; i < width(bus_request); i++) {
      if (transferred(bus_request, i)) BUS_KEEP_REQUEST(i, "device", data(bus_request, i));
    }
    if (self->failed) {
      count_fault(self, self->failed_fault);
      event(refused);
    }
    self->failed = false;
  }
  // The bus.
  if (due(self->ready_at)) {
    for (int i = 0; i < width(bus_request); i++) {
      if (i != self->lane) continue;
      if (!self->write) {
        if (transferred(bus_read_data, i)) advance(self, beat_bytes(self));
      } else if (transferred(bus_write_data, i)) {
        write_beat(self, data(bus_write_data, i));
      }
    }
  }
  if (!self->active && (self->waiting_lanes || self->window_state == host_window_waits) &&
      due(bus_free_from(self->free_at, clock_period())))
    arbitrate(self);
  schedule_wake(self);
}

next_event() {
  bool busy = self->active || self->failed || self->line || self->window_state != host_window_idle ||
              self->waiting_lanes || self->line_cycle + 1 > cycle() || self->window_cycle == cycle();
  for (int i = 0; i < width(memory_request); i++) busy |= self->reply_cycle[i] + 1 >= cycle();
  return busy ? cycle() : never();
}
