// host.c: host memory, I/O bus, window accesses and interrupts; see host.lss.
#include <string.h>

#include "fault_plan.h"
#include "host.h"

#define NOW ((uint64_t)now() * 1000)

// A time parameter, femtoseconds, in thousandths of a tick.
static uint64_t ticks_of(int64_t femtoseconds) {
  return (uint64_t)((unsigned __int128)femtoseconds * ticks_per_second() / 1000000000000u);
}

init() {
  double word = (double)ticks_per_second() * 1000.0 / (double)param(bus_clock) * (1.0 + param(overhead));
  self->word_time = (uint64_t)(word + 0.5);
  self->latency_time = ticks_of(param(read_latency));
  self->last = self->fault = -1;
  random_seed(&self->rng);
  const char *wrong = NULL;
  if (!fault_plan_valid(param(faults), host_faults, HOST_FAULTS, &wrong))
    sim_input_error("faults: '%s' is not a rule; rules are KIND@N, KIND/N or KIND%%P, kinds read_abort, read_parity, write_abort and write_parity", wrong);
}

// Bus words from the first one up to and with the one that holds byte `moved` - 1 of the transfer.
static uint64_t words_up_to(uint32_t first_byte, uint32_t moved) {
  return (first_byte + moved + (uint32_t)param(bus_width) - 1) / (uint32_t)param(bus_width);
}

phase_start() {
  for (int i = 0; i < width(bus_request); i++) {
    accept(bus_request, i, !self->is_waiting[i]);
    if (__builtin_expect(!self->ready && !self->failed, 1)) {
      accept(bus_write_data, i, false);
      send_nothing(bus_read_data, i);
      continue;
    }
    bool here = self->active && self->lane == i && self->ready;
    accept(bus_write_data, i, here && self->write);
    if (here && !self->write) {
      send(bus_read_data, i, self->beat);
    } else if (self->failed && self->failed_lane == i) {
      bus_beat failure = {.last = true, .error = true};
      send(bus_read_data, i, failure);
    } else {
      send_nothing(bus_read_data, i);
    }
  }
  for (int i = 0; i < width(memory_request); i++) {
    if (__builtin_expect(self->answering[i], 0)) send(memory_reply, i, self->cpu_answer[i]);
    else send_nothing(memory_reply, i);
  }
  for (int i = 0; i < width(window_request); i++) {
    accept(window_request, i, self->window_state == HOST_WINDOW_IDLE);
    if (__builtin_expect(self->window_state < HOST_WINDOW_OFFERED, 1)) {
      send_nothing(window_reply, i);
      send_nothing(device_request, i);
      continue;
    }
    if (self->window_state == HOST_WINDOW_ANSWERED) send(window_reply, i, self->answer);
    else send_nothing(window_reply, i);
    if (self->window_state == HOST_WINDOW_OFFERED) send(device_request, i, self->reference);
    else send_nothing(device_request, i);
  }
  for (int i = 0; i < width(interrupting); i++)
    send(interrupting, i, self->line && NOW - self->line_since >= ticks_of(param(interrupt_latency)));
}

// Whether a transfer that begins is to fail, and how: its number is that of its direction.
static void draw_fault(self_t *self) {
  const int first = self->write ? HOST_FAULT_WRITE_ABORT : HOST_FAULT_READ_ABORT, end = self->write ? HOST_FAULTS : HOST_FAULT_WRITE_ABORT;
  const uint64_t number = self->write ? self->writes : self->reads;
  int struck = FAULT_STRIKES(param(faults), host_faults, HOST_FAULTS, first, end, number, random_bits(&self->rng));
  self->fault = struck;
  if (struck < 0) return;
  bool aborts = struck == HOST_FAULT_READ_ABORT || struck == HOST_FAULT_WRITE_ABORT;
  self->bad |= aborts;
  self->spoils = !aborts;
}

// The device is told of the fault in this cycle.
static void count_fault(self_t *self, int fault) {
  self->read_aborts += fault == HOST_FAULT_READ_ABORT;
  self->read_parity += fault == HOST_FAULT_READ_PARITY;
  self->write_aborts += fault == HOST_FAULT_WRITE_ABORT;
  self->write_parity += fault == HOST_FAULT_WRITE_PARITY;
}

phase_end() {
  bool any = self->active || self->failed || self->line || self->window_state != HOST_WINDOW_IDLE || self->any_waiting || self->any_answering || self->settling;
  for (int i = 0; i < width(bus_request); i++) any |= some(bus_request, i);
  for (int i = 0; i < width(memory_request); i++) any |= some(memory_request, i);
  for (int i = 0; i < width(window_request); i++) any |= some(window_request, i);
  for (int i = 0; i < width(interrupt); i++) any |= (data(interrupt, i) & (uint32_t)param(interrupt_bits)) != 0;
  if (__builtin_expect(!any, 1)) return;
  self->any_answering = false;
  // ---- The host's software in its own memory ------------------------------------------------------------------
  for (int i = 0; i < width(memory_request); i++) {
    self->answering[i] = false;
    if (!transferred(memory_request, i)) continue;
    typeof_port(memory_request) request = data(memory_request, i);
    typeof_port(memory_reply) answer = {.tag = request.tag, .latency = 1};
    uint64_t offset = (uint64_t)request.address - (uint64_t)param(memory_base);
    if (request.op > mem_op_write || offset + request.size > (uint64_t)param(memory_bytes) || request.size > param(cpu_width) / 8) {
      answer.error = true;
    } else if (request.op == mem_op_write) {
      memcpy(self->bytes + offset, &request.data, request.size);
    } else {
      memcpy(&answer.data, self->bytes + offset, request.size);
    }
    self->cpu_answer[i] = answer;
    self->answering[i] = self->any_answering = true;
  }

  // ---- Interrupts ------------------------------------------------------------------------------------------------
  bool line = false;
  for (int i = 0; i < width(interrupt); i++) {
    uint32_t bits = some(interrupt, i) ? data(interrupt, i) : 0;
    line |= (bits & (uint32_t)param(interrupt_bits)) && !(bits & (uint32_t)param(masking_bits));
  }
  if (line && !self->line) {
    self->line_since = NOW;
    self->interrupts++;
  }
  self->settling = line != self->line;
  self->line = line;

  // ---- The software's reference to the device --------------------------------------------------------------------
  if (width(window_request)) {
    if (self->window_state == HOST_WINDOW_ANSWERED) self->window_state = HOST_WINDOW_IDLE;
    if (self->window_state == HOST_WINDOW_OFFERED && transferred(device_request)) self->window_state = HOST_WINDOW_OPEN;
    if (self->window_state == HOST_WINDOW_OPEN && transferred(device_reply)) {
      self->answer = data(device_reply);
      self->window_state = HOST_WINDOW_ANSWERED;
    }
    if (transferred(window_request)) {
      self->reference = data(window_request);
      self->window_since = NOW;
      self->window_state = HOST_WINDOW_WAITS;
      self->window_references++;
    }
  }

  // ---- Devices' transfers -----------------------------------------------------------------------------------------
  bool any_waits = false;
  for (int i = 0; i < width(bus_request); i++) {
    if (transferred(bus_request, i)) {
      self->waiting[i] = data(bus_request, i);
      self->waiting_since[i] = NOW;
      self->is_waiting[i] = true;
      if (self->waiting[i].length == 0) sim_error("device %d asks for a bus transfer of no bytes", i);
    }
    any_waits |= self->is_waiting[i];
  }
  if (self->failed) count_fault(self, self->failed_fault);
  self->failed = false;
  if (self->active && self->ready) {
    uint32_t count = 0;
    for (int i = 0; i < width(bus_request); i++) {
      if (i != self->lane) continue;
      if (self->write && transferred(bus_write_data, i)) {
        bus_beat beat = data(bus_write_data, i);
        count = beat.count < self->left ? beat.count : self->left;
        if (!self->bad && !(self->spoils && self->moved == 0)) memcpy(self->bytes + (self->address - (uint64_t)param(memory_base)), &beat.bytes, count);
      } else if (!self->write && transferred(bus_read_data, i)) {
        count = self->beat.count;
      }
    }
    if (count) {
      self->address += count;
      self->left -= count;
      self->moved += count;
      // A device that made the bus wait shifts the rest of its transfer.
      uint64_t due = self->start + words_up_to(self->first_byte, self->moved) * self->word_time;
      uint64_t clock = (uint64_t)clock_period() * 1000;
      if (self->write && NOW > due + clock) self->start += NOW - due - clock;
      if (self->left == 0) {
        self->active = false;
        self->free_at = self->start + words_up_to(self->first_byte, self->moved) * self->word_time;
        self->failed = (self->bad || self->spoils) && self->write;
        self->failed_lane = self->lane;
        self->failed_fault = self->fault;
        if (!self->write) count_fault(self, self->fault);
        self->fault = -1;
      }
    }
  }
  if (!self->active && (any_waits || self->window_state == HOST_WINDOW_WAITS)) {
    uint64_t clock = (uint64_t)clock_period() * 1000;
    if (NOW + clock > self->free_at) {
      if (self->window_state == HOST_WINDOW_WAITS) {
        // One word, at the device when it has crossed the bus.
        uint64_t begin = self->free_at > self->window_since ? self->free_at : self->window_since;
        self->free_at = begin + self->word_time;
        self->busy += self->word_time * 1000000 / ticks_per_second();
        self->window_state = HOST_WINDOW_OFFERED;
      } else {
        uint64_t requests = 0;
        for (int i = 0; i < width(bus_request); i++) requests |= (uint64_t)self->is_waiting[i] << i;
        int lane = call(policy, requests, self->last);
        if (lane >= 0 && lane < width(bus_request) && self->is_waiting[lane]) {
          bus_request request = self->waiting[lane];
          uint64_t offset = request.address - (uint64_t)param(memory_base);
          self->is_waiting[lane] = false;
          self->last = self->lane = lane;
          self->active = true;
          self->write = request.write;
          self->address = request.address;
          self->left = request.length;
          self->moved = 0;
          self->first_byte = (uint32_t)request.address & (uint32_t)(param(bus_width) - 1);
          self->bad = offset > (uint64_t)param(memory_bytes) || offset + request.length > (uint64_t)param(memory_bytes);
          self->start = self->free_at > self->waiting_since[lane] ? self->free_at : self->waiting_since[lane];
          if (!request.write) self->start += self->latency_time;
          uint64_t words = words_up_to(self->first_byte, request.length);
          self->busy += (words * self->word_time + (request.write ? 0 : self->latency_time)) * 1000000 / ticks_per_second();
          if (request.write) {
            self->writes++;
            self->written_bytes += request.length;
          } else {
            self->reads++;
            self->read_bytes += request.length;
          }
          self->spoils = false;
          if (param(faults)[0]) draw_fault(self);
          event(transfer, lane, request.write, request.address, request.length);
        }
      }
    }
  }
  self->any_waiting = false;
  for (int i = 0; i < width(bus_request); i++) self->any_waiting |= self->is_waiting[i];
  self->ready = false;
  if (self->active) {
    uint32_t count = self->left < 8 ? self->left : 8;
    uint64_t due = self->start + words_up_to(self->first_byte, self->moved + count) * self->word_time;
    // Ready in the first cycle whose edge is not before the last byte of the beat, and in which this device is told of no failed write.
    if (NOW + (uint64_t)clock_period() * 1000 >= due && !(self->failed && self->failed_lane == self->lane && !self->write)) {
      self->ready = true;
      if (!self->write) {
        bus_beat beat = {.count = (uint8_t)count, .last = count == self->left, .error = (self->bad || self->spoils) && count == self->left};
        if (!self->bad) memcpy(&beat.bytes, self->bytes + (self->address - (uint64_t)param(memory_base)), count);
        if (self->spoils && self->moved == 0) beat.bytes ^= 1;
        self->beat = beat;
      }
    }
  }
}

next_event() {
  bool busy = self->active || self->failed || self->line || self->window_state != HOST_WINDOW_IDLE || self->any_waiting || self->any_answering || self->settling;
  return busy ? cycle() : never();
}

#undef NOW
