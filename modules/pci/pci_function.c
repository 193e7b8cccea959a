// pci_function.c: a function on a PCI bus; see pci_function.lss.
#include "clock/device_time.h"

#define COMMAND           1
#define MEMORY_SPACE      0x2u
#define BUS_MASTER        0x4u
#define NO_INTERRUPT      0x400u
#define INTERRUPT_PENDING 0x80000u
#define MASTER_ABORT      0x20000000u
#define STATUS_CLEARED    0xf9000000u // by writing ones
#define FIRST_BAR         4

init() {
  for (int k = 0; k < param_length(header); k++) self->file[param(header)[k].offset / 4] = param(header)[k].reset;
  set_until(rises, never());
}

// ---- The header ----
static uint32_t register_value(const self_t *self, uint32_t word) {
  return self->file[word] | (word == COMMAND && self->level ? INTERRUPT_PENDING : 0);
}

static void write_register(self_t *self, uint32_t word, uint32_t value, uint32_t written) {
  for (int k = 0; k < param_length(header); k++)
    if (param(header)[k].offset / 4 == word && param(header)[k].access == register_access_rw)
      self->file[word] =
          (self->file[word] & ~(param(header)[k].mask & written)) | (value & param(header)[k].mask & written);
  if (word == COMMAND) self->file[word] &= ~(value & written & STATUS_CLEARED);
}

// A transaction with the header, of the bytes of one register.
static pci_reply serve(self_t *self, const pci_request *request) {
  const uint32_t offset = request->address & 0xfff, word = offset / 4, shift = 8 * (request->address & 3);
  const uint32_t bytes = (uint32_t)((UINT64_C(1) << 8 * (request->size & 7)) - 1) << shift;
  pci_reply reply = {.claimed = true};
  count(configurations);
  if (offset >= sizeof self->file) return reply; // there is no extended configuration space
  if (request->write)
    write_register(self, word, (uint32_t)request->data << shift, bytes);
  else
    reply.data = (register_value(self, word) & bytes) >> shift;
  event(access, offset, (uint32_t)(request->write ? request->data : reply.data), request->write);
  return reply;
}

// ---- The device's memory ----
// The base address in whose memory all of a transaction is, -1: none.
static int claimed_bar(const self_t *self, uint32_t address, uint32_t size) {
  if (!(self->file[COMMAND] & MEMORY_SPACE)) return -1;
  for (int k = 0; k < param_length(bars); k++) {
    const uint32_t offset = address - self->file[FIRST_BAR + k];
    if (offset < (uint32_t)param(bars)[k] && offset + size <= (uint32_t)param(bars)[k]) return k;
  }
  return -1;
}

static void take(self_t *self, pci_request request) {
  const bool mine = (request.address >> 12 & 7) == (uint32_t)param(number);
  self->phase = pci_access_replied;
  self->reply = (pci_reply){0};
  if (request.configuration) {
    if (mine) self->reply = serve(self, &request);
    return;
  }
  self->bar = claimed_bar(self, request.address, request.size);
  if (self->bar < 0) return;
  count(accesses);
  self->phase = pci_access_offered;
  self->request = (typeof_port(window_request)){.op = request.write ? mem_op_write : mem_op_read, .size = request.size};
  self->request.address = request.address - self->file[FIRST_BAR + self->bar];
  self->request.data = request.data;
}

// ---- Signals ----
static bool pin(const self_t *self) {
  return self->level && !(self->file[COMMAND] & NO_INTERRUPT) && until(rises) == 0;
}

phase_start() {
  send_if(target_reply, self->phase == pci_access_replied, self->reply);
  for (int i = 0; i < width(window_request); i++)
    send_if(window_request, i, self->phase == pci_access_offered && self->bar == i, self->request);
  for (int i = 0; i < width(intx); i++) send(intx, i, pin(self));
  for (int i = 0; i < width(value); i++) send(value, i, register_value(self, (uint32_t)param(value_offsets)[i] / 4));
}

handler(ask, i) {
  send_if(master_request, i, some(bus_request, i) && (self->file[COMMAND] & BUS_MASTER), data(bus_request, i));
}

handler(ask_surely, i) {
  enable(master_request, i, enabled(bus_request, i));
}

handler(allow, i) {
  accept(bus_request, i, acked(master_request, i) && (self->file[COMMAND] & BUS_MASTER));
}

handler(write, i) {
  send_if(master_write_data, i, some(bus_write_data, i), data(bus_write_data, i));
}

handler(write_surely, i) {
  enable(master_write_data, i, enabled(bus_write_data, i));
}

handler(take, i) {
  accept(bus_write_data, i, acked(master_write_data, i));
}

handler(read, i) {
  send_if(bus_read_data, i, some(master_read_data, i), data(master_read_data, i));
}

handler(read_surely, i) {
  enable(bus_read_data, i, enabled(master_read_data, i));
}

handler(have, i) {
  accept(master_read_data, i, acked(bus_read_data, i));
}

// ---- What happens ----
static void set_level(self_t *self, bool level) {
  if (level == self->level) return;
  self->level = level;
  set_until(shown_until, 2);
  count(interrupts, level);
  const uint64_t latency =
      device_cycles((uint64_t)param(interrupt_latency), 1000000000000000u, ticks_per_second(), clock_period());
  set_until(rises, level ? latency + 1 : never());
}

phase_end() {
  self->shown = pin(self);
  uint32_t bits = 0;
  bool any = false;
  for (int i = 0; i < width(interrupt); i++) {
    bits = some(interrupt, i) ? data(interrupt, i) : 0;
    any |= (bits & (uint32_t)param(interrupt_bits)) && !(bits & (uint32_t)param(masking_bits));
  }
  set_level(self, any);
  for (int i = 0; i < width(master_read_data); i++) {
    if (!transferred(master_read_data, i) || !item(master_read_data, i).error) continue;
    count(aborts);
    self->file[COMMAND] |= MASTER_ABORT;
    set_until(shown_until, 2);
  }
  if (self->phase == pci_access_replied) self->phase = pci_access_idle;
  for (int i = 0; i < width(window_request); i++) {
    if (transferred(window_request, i)) self->phase = pci_access_open;
    if (self->phase != pci_access_open || self->bar != i || !transferred(window_reply, i)) continue;
    self->phase = pci_access_replied;
    self->reply =
        (pci_reply){.claimed = true, .error = item(window_reply, i).error, .data = item(window_reply, i).data};
    const bool write = self->request.op == mem_op_write;
    event(device_access, (uint8_t)i, self->request.address, self->request.size,
          write ? self->request.data : self->reply.data, write);
  }
  if (transferred(target_request)) take(self, data(target_request));
}

next_event() {
  if (self->phase == pci_access_replied || self->phase == pci_access_offered || self->shown != pin(self) ||
      until(shown_until))
    return cycle();
  return self->level && !(self->file[COMMAND] & NO_INTERRUPT) ? unchanged(after(until(rises))) : unchanged(never());
}

#undef COMMAND
#undef MEMORY_SPACE
#undef BUS_MASTER
#undef NO_INTERRUPT
#undef INTERRUPT_PENDING
#undef MASTER_ABORT
#undef STATUS_CLEARED
#undef FIRST_BAR
