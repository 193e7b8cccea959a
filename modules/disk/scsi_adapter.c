// scsi_adapter.c: an Am53C974 as initiator on a SCSI bus; see scsi_adapter.lss.
#include "disk/scsi_adapter.h"
#include "clock/device_time.h"

#define CLOCK_FACTOR self->control[4]

static bool goes_in(scsi_phase phase) {
  return phase & 1;
}

static bool is_data(scsi_phase phase) {
  return phase <= scsi_phase_data_in;
}

// ---- The FIFO and the ring ----
static void push(self_t *self, uint8_t byte) {
  if (self->fifo_count < sizeof self->fifo) self->fifo[self->fifo_count++] = byte;
}

static uint8_t pop(self_t *self) {
  if (!self->fifo_count) return 0;
  const uint8_t byte = self->fifo[0];
  self->fifo_count--;
  memmove(self->fifo, self->fifo + 1, self->fifo_count);
  self->fifo[self->fifo_count] = 0;
  return byte;
}

static void ring_put(self_t *self, uint64_t bytes, uint32_t count) {
  for (uint32_t k = 0; k < count; k++)
    self->ring[(self->ring_head + self->ring_count++) % SCSI_RING] = (uint8_t)(bytes >> 8 * k);
}

static uint64_t ring_bytes(const self_t *self, uint32_t count) {
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < count; k++) bytes |= (uint64_t)self->ring[(self->ring_head + k) % SCSI_RING] << 8 * k;
  return bytes;
}

static void ring_drop(self_t *self, uint32_t count) {
  self->ring_head = (self->ring_head + count) % SCSI_RING;
  self->ring_count -= count;
}

// ---- Interrupts ----
static void raise(self_t *self, uint8_t bits, scsi_phase phase) {
  count(interrupts, !self->pending);
  if (!self->pending) self->seen = phase;
  self->pending |= bits;
  event(raised, bits, (uint8_t)phase, self->step);
}

// The command is done.
static void end_action(self_t *self, uint8_t bits, scsi_phase phase) {
  self->action = scsi_action_none;
  self->served = true;
  raise(self, bits, phase);
}

// ---- Commands ----
static void drop_connection(self_t *self) {
  self->action = scsi_action_none;
  self->connected = self->attention = self->holding = self->has_next = false;
  self->carry.count = 0;
}

static void reset_chip(self_t *self) {
  drop_connection(self);
  self->fifo_count = 0;
  self->pending = self->step = 0;
  self->enabled = self->counted_down = false;
  self->chip_shown = true;
  self->start_count = 0;
  self->control[0] &= 7;
  for (int k = 1; k < 4; k++) self->control[k] = 0;
}

static void reset_bus(self_t *self) {
  drop_connection(self);
  self->resets = true;
  const uint64_t second = 1000000000000000u;
  set_until(ends, device_cycles((uint64_t)param(reset_time), second, ticks_per_second(), clock_period()) + 1);
}

static void load_count(self_t *self) {
  const uint32_t most = self->control[1] & SCSI_FEATURES ? 0x1000000 : 0x10000;
  self->left = self->start_count % most ? self->start_count % most : most;
  self->counted_down = false;
}

static void begin_selection(self_t *self, uint8_t command) {
  if (self->connected) {
    raise(self, SCSI_ILLEGAL, self->seen);
    return;
  }
  count(selections);
  self->action = scsi_action_selects;
  self->step = 0;
  self->messages = command == SCSI_SELECT ? 0 : command == SCSI_SELECT_TAG ? 3 : 1;
}

static void begin_transfer(self_t *self, uint8_t command, scsi_phase phase) {
  if (!self->connected) {
    raise(self, SCSI_ILLEGAL, phase);
    return;
  }
  self->served = false;
  self->phase = phase;
  self->action = command == SCSI_COMPLETE ? scsi_action_takes_status : scsi_action_transfers;
}

static void execute(self_t *self, uint8_t written, scsi_phase phase) {
  const uint8_t command = written & 0x7f;
  self->command = written;
  self->with_dma = written & SCSI_WITH_DMA;
  if (self->with_dma) load_count(self);
  switch (command) {
  case SCSI_NOTHING: break;
  case SCSI_TRANSFER:
  case SCSI_COMPLETE: begin_transfer(self, command, phase); break;
  case SCSI_ACCEPT_MESSAGE: self->accepting = self->holding; break;
  case SCSI_SELECT:
  case SCSI_SELECT_ATTENTION:
  case SCSI_SELECT_STOP:
  case SCSI_SELECT_TAG: begin_selection(self, command); break;
  case SCSI_DISABLE:
    self->enabled = false;
    raise(self, SCSI_DONE, phase);
    break;
  default: raise(self, SCSI_ILLEGAL, phase);
  }
}

static bool selects(uint8_t command) {
  return command >= SCSI_SELECT && command <= SCSI_SELECT_TAG && command != SCSI_ENABLE && command != SCSI_DISABLE;
}

// Commands that are done whatever else is being done; the others wait.
static void take_command(self_t *self, uint8_t written, scsi_phase phase) {
  const uint8_t command = written & 0x7f;
  const bool reselected = self->action == scsi_action_reselected || (self->pending & SCSI_RESELECTED);
  count(commands);
  switch (command) {
  case SCSI_FLUSH:
    if (!reselected) self->fifo_count = 0;
    break;
  case SCSI_RESET_CHIP: reset_chip(self); break;
  case SCSI_RESET_BUS: reset_bus(self); break;
  case SCSI_SET_ATTENTION: self->attention = self->connected; break;
  case SCSI_CLEAR_ATTENTION: self->attention = false; break;
  case SCSI_ENABLE: self->enabled = true; break;
  default:
    if (reselected && selects(command)) break;
    self->has_next = true;
    self->next_command = written;
  }
}

// ---- Registers ----
static uint32_t read_register(self_t *self, uint32_t number, scsi_phase phase) {
  uint32_t value = 0;
  switch (number) {
  case SCSI_COUNT_LOW: return self->left & 0xff;
  case SCSI_COUNT_MIDDLE: return self->left >> 8 & 0xff;
  case SCSI_COUNT_HIGH: return self->chip_shown ? SCSI_CHIP : self->left >> 16 & 0xff;
  case SCSI_FIFO: return pop(self);
  case SCSI_COMMAND: return self->command;
  case SCSI_STATUS:
    return (uint32_t)(self->pending ? self->seen : phase) | (self->counted_down ? 0x10 : 0) |
           (self->pending ? 0x80 : 0);
  case SCSI_INTERRUPT:
    value = self->pending;
    self->pending = self->step = 0;
    return value;
  case SCSI_SEQUENCE: return self->step;
  case SCSI_FLAGS: return self->fifo_count | (uint32_t)self->step << 5;
  case SCSI_CONTROL_1: return self->control[0];
  case SCSI_CONTROL_2:
  case SCSI_CONTROL_3:
  case SCSI_CONTROL_4: return self->control[number - SCSI_CONTROL_2 + 1];
  case SCSI_DMA_COMMAND: return self->dma_command;
  case SCSI_DMA_START_COUNT: return self->dma_start_count;
  case SCSI_DMA_START_ADDRESS: return self->dma_start_address;
  case SCSI_DMA_COUNT: return self->dma_count;
  case SCSI_DMA_ADDRESS: return self->dma_address;
  case SCSI_DMA_STATUS:
    value = self->dma_status | (self->pending ? SCSI_DMA_OTHER : 0);
    self->dma_status = 0;
    return value;
  case SCSI_DMA_LIST:
  case SCSI_DMA_LIST_ADDRESS: return self->dma_list[number - SCSI_DMA_LIST];
  default: return 0;
  }
}

static void start_dma(self_t *self) {
  self->dma_status = 0;
  if (self->dma_command & SCSI_DMA_BY_LIST) {
    self->dma_status = SCSI_DMA_ERROR;
    count(errors);
    return;
  }
  self->to_memory = self->dma_command & SCSI_DMA_TO_MEMORY;
  self->dma_count = self->dma_start_count;
  self->dma_address = self->dma_start_address;
  self->dma_active = true;
}

static void stop_dma(self_t *self) {
  self->dma_active = false;
  self->forgotten = self->dma != scsi_dma_idle;
  self->ring_head = self->ring_count = 0;
}

static void write_dma_command(self_t *self, uint8_t value) {
  self->dma_command = value;
  switch (value & 3) {
  case SCSI_DMA_IDLE: stop_dma(self); break;
  case SCSI_DMA_BLAST: self->dma_status |= SCSI_DMA_BLASTED; break; // nothing is left in the ring behind a command
  case SCSI_DMA_ABORT:
    stop_dma(self);
    self->dma_status |= SCSI_DMA_ABORTED;
    break;
  default: start_dma(self);
  }
}

static void write_register(self_t *self, uint32_t number, uint32_t value, scsi_phase phase) {
  const uint8_t byte = (uint8_t)value;
  switch (number) {
  case SCSI_COUNT_LOW: self->start_count = (self->start_count & ~0xffu) | byte; break;
  case SCSI_COUNT_MIDDLE: self->start_count = (self->start_count & ~0xff00u) | (uint32_t)byte << 8; break;
  case SCSI_COUNT_HIGH:
    self->start_count = (self->start_count & 0xffffu) | (uint32_t)byte << 16;
    self->chip_shown = false;
    break;
  case SCSI_FIFO:
    if (!(self->pending & SCSI_RESELECTED)) push(self, byte);
    break;
  case SCSI_COMMAND: take_command(self, byte, phase); break;
  case SCSI_STATUS: self->destination = byte & 7; break;
  case SCSI_INTERRUPT: self->timeout = byte; break;
  case SCSI_CONTROL_1: self->control[0] = byte; break;
  case SCSI_CLOCK: CLOCK_FACTOR = byte & 7; break;
  case SCSI_CONTROL_2:
  case SCSI_CONTROL_3:
  case SCSI_CONTROL_4: self->control[number - SCSI_CONTROL_2 + 1] = byte; break;
  case SCSI_DMA_COMMAND: write_dma_command(self, byte); break;
  case SCSI_DMA_START_COUNT: self->dma_start_count = value; break;
  case SCSI_DMA_START_ADDRESS: self->dma_start_address = value; break;
  case SCSI_DMA_LIST: self->dma_list[0] = value; break;
  default: break;
  }
}

// An access is to the register in whose word it begins; only words have more than one byte.
static void serve(self_t *self, const mem_request_64 *request, scsi_phase phase) {
  const uint32_t number = request->address / 4, shift = 8 * (request->address & 3);
  self->replying = true;
  self->reply = (typeof(self->reply)){.tag = request->tag};
  self->reply.error = request->op > mem_op_write || request->size > 4;
  if (self->reply.error) return;
  if (request->op == mem_op_write) {
    if (!shift) write_register(self, number, (uint32_t)request->data, phase);
    event(access, (uint8_t)number, (uint32_t)request->data, true);
    return;
  }
  const uint32_t value = shift && number < SCSI_DMA_COMMAND ? 0 : read_register(self, number, phase) >> shift;
  self->reply.data = request->size < 4 ? value & ((1u << 8 * request->size) - 1) : value;
  event(access, (uint8_t)number, (uint32_t)self->reply.data, false);
}

// ---- DMA ----
// No more bytes come into the ring for now.
static bool is_last(const self_t *self) {
  return self->action != scsi_action_transfers || !self->left;
}

// Nothing responds: no more is moved.
static void fail_dma(self_t *self) {
  count(errors);
  self->dma_status |= SCSI_DMA_ERROR;
  self->dma_active = false;
}

// A burst that would go past the last address of 32 bits fails as one without memory does.
static void begin_burst(self_t *self, scsi_state bus) {
  if (self->dma != scsi_dma_idle || !self->dma_active || !self->dma_count) return;
  const uint32_t room = SCSI_RING - self->ring_count;
  uint32_t bytes = self->dma_count < SCSI_BURST ? self->dma_count : SCSI_BURST;
  if (self->to_memory) {
    const bool over = is_last(self) || (bus.requested && bus.phase != self->phase) || !bus.connected;
    if (self->ring_count < bytes && !(over && self->ring_count)) return;
    if (self->ring_count < bytes) bytes = self->ring_count;
  } else if (room < bytes) {
    return;
  }
  if (bytes - 1 > UINT32_MAX - self->dma_address) {
    fail_dma(self);
    return;
  }
  self->burst = bytes;
  self->dma = scsi_dma_requests;
}

static void end_burst(self_t *self, bool error) {
  self->dma = scsi_dma_idle;
  if (error) {
    fail_dma(self);
  } else if (self->dma_active && !self->dma_count && !self->forgotten) {
    self->dma_status |= SCSI_DMA_DONE;
  }
  self->forgotten = false;
}

static void follow_dma(self_t *self, uint32_t bytes, const bus_beat *read) {
  self->burst -= bytes;
  count(written_bytes, read ? 0 : bytes);
  count(read_bytes, read ? bytes : 0);
  if (!self->forgotten) {
    self->dma_count -= bytes;
    self->dma_address += bytes;
    if (read)
      ring_put(self, read->bytes, bytes);
    else
      ring_drop(self, bytes);
  }
  if (read ? read->last : !self->burst) end_burst(self, read && read->error);
}

// Whether what came from the bus is in memory.
static bool is_flushed(const self_t *self) {
  return !self->to_memory || (!self->ring_count && self->dma == scsi_dma_idle) || !self->dma_active;
}

// ---- What the target does ----
// What came from the bus goes where the transfer wants it.
static void take_carry(self_t *self) {
  uint32_t bytes = self->carry.count;
  if (!bytes || self->action != scsi_action_transfers || !goes_in(self->phase) || !self->with_dma || !self->left)
    return;
  if (bytes > self->left) bytes = self->left;
  if (bytes > SCSI_RING - self->ring_count) return;
  ring_put(self, self->carry.bytes, bytes);
  self->carry.bytes = bytes < 8 ? self->carry.bytes >> 8 * bytes : 0;
  self->carry.count = (uint8_t)(self->carry.count - bytes);
  self->left -= bytes;
  self->counted_down = !self->left;
}

// A transfer is over when the count is, or the FIFO is empty, or the target wants something else.
static void follow_transfer(self_t *self, scsi_state bus) {
  const bool other = bus.requested && bus.phase != self->phase;
  const bool in = goes_in(self->phase);
  if (self->holding) { // the last byte of messages by DMA
    if (is_flushed(self)) end_action(self, SCSI_DONE, self->phase);
  } else if (other || (bus.requested && (self->with_dma ? !self->left : !in && !self->fifo_count))) {
    if (is_flushed(self)) end_action(self, SCSI_SERVICE, bus.phase);
  }
}

// Of a selection: messages, then the command, until the target wants something else.
static void follow_selection(self_t *self, scsi_state bus) {
  if (!bus.requested) return;
  const scsi_phase wanted = self->action == scsi_action_sends_messages ? scsi_phase_message_out : scsi_phase_command;
  const bool can = bus.phase == wanted && self->fifo_count;
  if (self->action == scsi_action_waits || !can) {
    if (self->action == scsi_action_sends_command) self->step = self->fifo_count ? 3 : 4;
    end_action(self, SCSI_DONE | SCSI_SERVICE, bus.phase);
  }
}

static void follow_sent(self_t *self, const scsi_beat *beat) {
  if (self->action == scsi_action_transfers && self->with_dma) {
    ring_drop(self, beat->count);
    self->left -= beat->count;
    self->counted_down = !self->left;
    return;
  }
  pop(self);
  if (self->action == scsi_action_transfers) {
    if (!beat->attention) self->attention = false;
    return;
  }
  if (self->action != scsi_action_sends_messages || --self->messages) return;
  self->step = self->command == SCSI_SELECT_STOP ? 1 : 2;
  self->attention = beat->attention;
  self->action = self->command == SCSI_SELECT_STOP ? scsi_action_waits : scsi_action_sends_command;
}

// Bytes that come from the target; those of messages stay at the bus until they are accepted.
static void look_at_received(self_t *self, const scsi_beat *beat, scsi_state bus) {
  const uint8_t byte = (uint8_t)beat->bytes;
  const bool message = bus.phase == scsi_phase_message_in && !self->holding;
  if (!message) return;
  switch (self->action) {
  case scsi_action_reselected:
    self->fifo_count = 0;
    push(self, (uint8_t)(1u << bus.peer | 1u << (self->control[0] & 7)));
    push(self, byte);
    self->holding = true;
    end_action(self, SCSI_RESELECTED | SCSI_DONE, bus.phase);
    break;
  case scsi_action_takes_message:
    push(self, byte);
    self->holding = true;
    end_action(self, SCSI_DONE, bus.phase);
    break;
  case scsi_action_transfers:
    if (self->with_dma || self->phase != scsi_phase_message_in) break;
    push(self, byte);
    self->holding = true;
    end_action(self, SCSI_DONE, bus.phase);
    break;
  default: break;
  }
}

// By DMA a message's bytes are accepted, but the last one.
static bool takes_message_by_dma(const self_t *self) {
  return self->action == scsi_action_transfers && self->with_dma && self->phase == scsi_phase_message_in;
}

static void take_message_byte(self_t *self, uint8_t byte) {
  if (self->holding || !self->left) return;
  ring_put(self, byte, 1);
  self->counted_down = !--self->left;
  if (!self->left)
    self->holding = true;
  else
    self->accepting = true;
}

// A beat was taken from the bus.
static void follow_received(self_t *self, const scsi_beat *beat, scsi_state bus) {
  if (self->accepting) {
    self->accepting = self->holding = self->served = false;
  } else if (self->action == scsi_action_takes_status) {
    push(self, (uint8_t)beat->bytes);
    self->action = scsi_action_takes_message;
  } else if (self->with_dma) {
    self->carry = *beat;
  } else {
    push(self, (uint8_t)beat->bytes);
    end_action(self, SCSI_SERVICE, bus.phase);
  }
}

static void follow_connection(self_t *self, scsi_state bus) {
  if (bus.connected && !self->connected) {
    self->connected = true;
    self->enabled = false;
    if (self->action == scsi_action_sends_messages || self->action == scsi_action_sends_command) return;
    count(reselections);
    self->has_next = false;
    self->action = scsi_action_reselected;
    self->fifo_count = 0;
  } else if (!bus.connected && self->connected) {
    drop_connection(self);
    self->ring_head = self->to_memory ? self->ring_head : 0;
    raise(self, SCSI_DISCONNECTED, scsi_phase_data_out);
  } else if (bus.absent && self->action != scsi_action_times_out) {
    const uint32_t factor = CLOCK_FACTOR ? CLOCK_FACTOR : 8;
    self->action = scsi_action_times_out;
    self->attention = false;
    set_until(ends, device_cycles((uint64_t)self->timeout * 8192 * factor, (uint64_t)param(clock_frequency),
                                  ticks_per_second(), clock_period()) +
                        1);
  } else if (self->action == scsi_action_times_out && !until(ends)) {
    count(timeouts);
    end_action(self, SCSI_DISCONNECTED, scsi_phase_data_out);
  }
}

// Whether there is something to tell of a target that waits.
static void follow_request(self_t *self, scsi_state bus) {
  if (!self->connected || self->action != scsi_action_none || self->has_next || self->accepting) return;
  if (bus.connected && bus.requested && !self->served && !self->pending && !self->holding)
    end_action(self, SCSI_SERVICE, bus.phase);
}

static void follow_action(self_t *self, scsi_state bus) {
  switch (self->action) {
  case scsi_action_sends_messages:
  case scsi_action_sends_command:
  case scsi_action_waits:
    if (self->connected) follow_selection(self, bus);
    break;
  case scsi_action_transfers: follow_transfer(self, bus); break;
  case scsi_action_takes_status:
    if (bus.requested && bus.phase != scsi_phase_status) end_action(self, SCSI_SERVICE, bus.phase);
    break;
  case scsi_action_takes_message:
    if (bus.requested && bus.phase != scsi_phase_message_in) end_action(self, SCSI_SERVICE, bus.phase);
    break;
  default: break;
  }
}

// ---- Signals ----
static bool is_interrupting(const self_t *self) {
  return self->pending || ((self->dma_status & SCSI_DMA_DONE) && (self->dma_command & SCSI_DMA_INTERRUPTS));
}

// What can be sent in the phase that was seen last: of a command or messages a byte, of data as much as there is.
static scsi_beat beat_of(const self_t *self) {
  scsi_beat beat = {0};
  if (self->action == scsi_action_transfers && self->with_dma) {
    const uint32_t wanted = self->left < 8 ? self->left : 8, most = is_data(self->phase) ? wanted : wanted > 0;
    if (self->ring_count < most) return beat;
    beat.count = (uint8_t)most;
    beat.bytes = ring_bytes(self, most);
    return beat;
  }
  beat.count = self->fifo_count > 0;
  beat.bytes = self->fifo[0];
  if (self->action == scsi_action_transfers)
    beat.attention = self->phase == scsi_phase_message_out && self->fifo_count > 1;
  else if (self->action == scsi_action_sends_messages)
    beat.attention = self->messages > 1 || self->command == SCSI_SELECT_STOP;
  return beat;
}

static bool sends(const self_t *self) {
  switch (self->action) {
  case scsi_action_sends_messages:
  case scsi_action_sends_command: return self->connected;
  case scsi_action_transfers: return !goes_in(self->phase);
  default: return false;
  }
}

static scsi_phase phase_sent(const self_t *self) {
  return self->action == scsi_action_sends_messages  ? scsi_phase_message_out
         : self->action == scsi_action_sends_command ? scsi_phase_command
                                                     : self->phase;
}

phase_start() {
  scsi_lines lines = {.id = self->control[0] & 7, .attention = self->attention, .reset = self->resets};
  lines.responds = self->enabled && !self->connected && !self->pending;
  lines.busy = self->action == scsi_action_times_out && until(ends);
  const scsi_request wanted = {.destination = self->destination, .attention = self->messages};
  const bus_request request = {.write = self->to_memory, .address = self->dma_address, .length = self->burst};
  const uint32_t bytes = self->burst < 8 ? self->burst : 8;
  bus_beat beat = {.count = (uint8_t)bytes, .last = self->burst <= 8};
  beat.bytes = ring_bytes(self, bytes);
  send(bus_lines, lines);
  send_if(bus_request, self->action == scsi_action_selects, wanted);
  send_if(memory_request, self->dma == scsi_dma_requests, request);
  send_if(memory_write_data, self->dma == scsi_dma_moves && self->to_memory, beat);
  send_if(in_reply, self->replying, self->reply);
  for (int i = 0; i < width(interrupt); i++) send(interrupt, i, is_interrupting(self));
}

handler(offer) {
  const scsi_state bus = data(bus_bus);
  const scsi_beat beat = beat_of(self);
  send_if(bus_sent, sends(self) && beat.count && bus.requested && bus.phase == phase_sent(self), beat);
  const bool status = self->action == scsi_action_takes_status && bus.phase == scsi_phase_status;
  const bool transfers = self->action == scsi_action_transfers && goes_in(self->phase) && bus.phase == self->phase &&
                         self->phase != scsi_phase_message_in && !self->carry.count && (!self->with_dma || self->left);
  accept(bus_received, self->accepting || status || transfers);
}

handler(offer_surely) {
  enable(bus_sent, enabled(bus_bus));
}

// As long as bytes of data wait to be taken, the target still requests that.
static scsi_state seen_with(const self_t *self, scsi_state bus) {
  if (!self->carry.count) return bus;
  bus.phase = scsi_phase_data_in;
  bus.requested = true;
  return bus;
}

phase_end() {
  const scsi_state bus = data(bus_bus);
  const scsi_action action = self->action;
  const scsi_dma dma = self->dma;
  const uint32_t carried = self->carry.count, ring = self->ring_count;
  self->shown = is_interrupting(self);
  self->replying = false;
  bool any = transferred(bus_request) | transferred(bus_sent) | transferred(bus_received) |
             transferred(memory_request) | transferred(memory_write_data) | transferred(memory_read_data) |
             transferred(in_request);
  if (transferred(memory_request)) self->dma = scsi_dma_moves;
  if (transferred(memory_write_data)) follow_dma(self, data(memory_write_data).count, NULL);
  if (transferred(memory_read_data)) follow_dma(self, data(memory_read_data).count, &data(memory_read_data));
  if (transferred(bus_request)) {
    self->action = self->messages ? scsi_action_sends_messages : scsi_action_sends_command;
    self->attention = self->messages;
  }
  if (transferred(bus_sent)) follow_sent(self, &data(bus_sent));
  if (transferred(bus_received))
    follow_received(self, &data(bus_received), bus);
  else if (some(bus_received) && takes_message_by_dma(self))
    take_message_byte(self, (uint8_t)data(bus_received).bytes);
  else if (some(bus_received))
    look_at_received(self, &data(bus_received), bus);
  if (self->resets && !until(ends)) {
    self->resets = false;
    any = true;
    if (!(self->control[0] & SCSI_NO_RESET_REPORT)) raise(self, SCSI_WAS_RESET, bus.phase);
  }
  if (bus.reset && !self->reset && !self->resets) {
    drop_connection(self);
    raise(self, SCSI_WAS_RESET, bus.phase);
  }
  self->reset = bus.reset;
  if (!bus.reset && !self->resets && !transferred(bus_request)) {
    follow_connection(self, bus);
    take_carry(self);
    if (!transferred(bus_received) && !transferred(bus_sent)) follow_action(self, seen_with(self, bus));
    if (!transferred(bus_received)) follow_request(self, seen_with(self, bus));
  }
  if (self->has_next && self->action == scsi_action_none && !self->accepting) {
    self->has_next = false;
    any = true;
    execute(self, self->next_command, seen_with(self, bus).phase);
  }
  begin_burst(self, bus);
  if (transferred(in_request)) serve(self, &data(in_request), seen_with(self, bus).phase);
  const bool changed = action != self->action || dma != self->dma || carried != self->carry.count ||
                       ring != self->ring_count || self->shown != is_interrupting(self);
  if (any || changed) set_until(shown_until, 3);
}

next_event() {
  if (until(shown_until) || self->shown != is_interrupting(self)) return cycle();
  const bool timed = self->resets || self->action == scsi_action_times_out;
  return unchanged(timed ? after(until(ends)) : never());
}

#undef CLOCK_FACTOR
