// coherent_port.c: a memory port on a system bus; see coherent_port.lss.
#include "memory/memory_access.h"

#define PORT_LINE ((uint32_t)param(line))

// The first entry in a phase, or `entries`.
static uint32_t first_entry(const self_t *self, entry_phase phase) {
  uint32_t k = 0;
  while (k < (uint32_t)param(entries) && self->phase[k] != phase) k++;
  return k;
}

static bus_op command_of(const typeof_port(in_request) * request) {
  return request->op == mem_op_read   ? bus_op_read_once
         : request->size == PORT_LINE ? bus_op_write_line
                                      : bus_op_write_part;
}

init() {
  self->responds_for = (uint32_t)param(entries);
}

// A write that is done, of an entry; of another, or none, its size is 0.
static inline mem_snoop write_of(const self_t *self, uint32_t slot) {
  if (slot == (uint32_t)param(entries)) return (mem_snoop){0};
  const typeof_port(in_request) *request = &self->request[slot];
  if (request->op != mem_op_write || self->reply[slot].error) return (mem_snoop){0};
  return (mem_snoop){.address = request->address, .size = request->size, .tag = request->tag};
}

check_state() {
  uint32_t used = 0;
  for (int k = 0; k < param(entries); k++) {
    const bool requesting = self->phase[k] == entry_phase_requests || self->phase[k] == entry_phase_requested;
    used += self->phase[k] != entry_phase_idle;
    if (requesting && self->request[k].address % PORT_LINE + self->request[k].size > PORT_LINE)
      sim_error("request %d crosses a line of %d bytes", k, (int)param(line));
  }
  if (used != self->used || self->queued > used)
    sim_error("%u requests are in progress, and %u of %u wait", (unsigned)used, (unsigned)self->queued,
              (unsigned)self->used);
}

phase_start() {
  if (self->used == 0 && !self->responding) {
    send_nothing(bus_request);
    send_nothing(bus_snoop_response);
    send_nothing(in_reply);
    for (int i = 0; i < width(written); i++) send_nothing(written, i);
    return;
  }
  const uint32_t slot = self->order[0], replies = first_entry(self, entry_phase_replies);
  const bus_command command = {
      .op = command_of(&self->request[slot]), .address = self->request[slot].address & ~(PORT_LINE - 1), .tag = slot};
  send_if(bus_request, self->queued > 0, command);
  send_if(bus_snoop_response, self->responding, self->snoop_response);
  send_if(in_reply, replies < (uint32_t)param(entries), self->reply[replies % (uint32_t)param(entries)]);
  const mem_snoop write = write_of(self, replies);
  for (int i = 0; i < width(written); i++) send_if(written, i, write.size > 0, write);
}

handler(take) {
  const bool waits = some(in_request) && data(in_request).op >= mem_op_barrier && self->used > 0;
  accept(in_request, self->used < (uint32_t)param(entries) && !waits);
}

// A request was transferred.
static void enter(self_t *self, const typeof_port(in_request) * request) {
  const uint32_t slot = first_entry(self, entry_phase_idle);
  self->used++;
  self->request[slot] = *request;
  self->reply[slot] = (typeof_port(in_reply)){.tag = request->tag};
  if (request->op > mem_op_write) {
    self->reply[slot].error = request->op < mem_op_barrier; // mem_fault_bus
    self->phase[slot] = entry_phase_replies;
    return;
  }
  if (request->address % PORT_LINE + request->size > PORT_LINE)
    sim_error("a request of %d bytes at 0x%x crosses a line of %d bytes: the requester must make two of it",
              (int)request->size, (unsigned)request->address, (int)param(line));
  self->phase[slot] = entry_phase_requests;
  self->order[self->queued++] = (uint8_t)slot;
  if (request->op == mem_op_read)
    count(reads);
  else
    count(writes);
  count(whole_lines, command_of(request) == bus_op_write_line);
}

// The bus's response to a request.
static void finish_request(self_t *self, const typeof_port(bus_response) * response) {
  const uint32_t slot = response->tag;
  if (slot >= (uint32_t)param(entries))
    sim_error("the bus responds to request %u, which does not exist", (unsigned)slot);
  const typeof_port(in_request) *request = &self->request[slot];
  self->reply[slot].error = response->error;
  self->phase[slot] = entry_phase_replies;
  if (request->op != mem_op_read || response->error) return;
  memory_to_number(&self->reply[slot].data, (const uint8_t *)&response->bytes + request->address % PORT_LINE,
                   request->size, param(big_endian));
  if (request->sign) extend_sign(&self->reply[slot].data, request->size, sizeof self->reply[slot].data);
}

// The answer to a snoop: no copy, or what is written.
static void respond(self_t *self, const bus_snoop *snoop) {
  self->snoop_response.result = snoop_result_none;
  self->snoop_response.number = snoop->number;
  self->responds_for = (uint32_t)param(entries);
  if (!snoop->own) return;
  if (snoop->tag >= (uint32_t)param(entries))
    sim_error("the bus has request %u, which does not exist", (unsigned)snoop->tag);
  const typeof_port(in_request) *request = &self->request[snoop->tag];
  self->responds_for = snoop->tag;
  if (request->op == mem_op_read) return;
  self->snoop_response.result = snoop_result_modified;
  self->snoop_response.first = request->address % PORT_LINE;
  self->snoop_response.count = request->size;
  number_to_memory((uint8_t *)&self->snoop_response.bytes + self->snoop_response.first, &request->data, request->size,
                   param(big_endian));
}

phase_end() {
  if (!some(in_request) && !some(bus_snoop) && !some(bus_response) && !self->responding && self->used == 0) return;
  const uint32_t replied = self->used > 0 ? first_entry(self, entry_phase_replies) : (uint32_t)param(entries);
  if (replied < (uint32_t)param(entries)) {
    const typeof_port(in_request) *request = &self->request[replied];
    event(performed, request->op, request->address, request->size, request->tag,
          low_number(&self->reply[replied].data, sizeof self->reply[replied].data));
    self->phase[replied] = entry_phase_idle;
    self->used--;
    set_until(changes, 2); // the reply is gone in the next cycle
  }
  if (self->responding && self->responds_for < (uint32_t)param(entries)) {
    const typeof_port(in_request) *request = &self->request[self->responds_for];
    event(ordered, request->op, request->address, request->size, request->tag,
          low_number(&request->data, sizeof request->data));
  }
  if (transferred(bus_request)) {
    self->phase[self->order[0]] = entry_phase_requested;
    memmove(&self->order[0], &self->order[1], --self->queued);
  }
  if (transferred(in_request)) enter(self, &data(in_request));
  if (transferred(bus_response)) finish_request(self, &data(bus_response));
  if (transferred(bus_request) | transferred(in_request) | transferred(bus_response)) set_until(changes, 2);
  self->responding = transferred(bus_snoop);
  if (self->responding) respond(self, &data(bus_snoop));
}

next_event() {
  const bool replies = self->used > 0 && first_entry(self, entry_phase_replies) < (uint32_t)param(entries);
  if (self->responding || replies || !within(changes, 0)) return cycle();
  return self->queued > 0 ? unchanged() : never();
}
