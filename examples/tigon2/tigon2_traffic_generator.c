// tigon2_traffic_generator.c: traffic for the assists of a Tigon-2 without a processor; see
// tigon2_traffic_generator.lss.
#include <string.h>

#include "modules/wire/udp_traffic.h"
#include "modules/wire/vlan_tag.h"

// Addresses of rings and buffers in the NIC (k1 is the start of the fixed regions), and frames in host memory.
enum {
  GENERATOR_K1 = 0x17b000,
  GENERATOR_MAC_SEND = GENERATOR_K1 + 0x2800,
  GENERATOR_MAC_RECEIVE = GENERATOR_K1 + 0x3000,
  GENERATOR_DMA_READ = GENERATOR_K1 + 0x4000,
  GENERATOR_DMA_WRITE = GENERATOR_K1 + 0x4800,
  GENERATOR_SEND_BASE = 0x180000,
  GENERATOR_RECEIVE_BASE = 0x1c0000,
  GENERATOR_STACK_END = 0xbff000,
  GENERATOR_REGISTERS = 0xc0000000u,
  GENERATOR_HOST_SENDS = 0x100000,
  GENERATOR_HOST_RECEIVES = 0x200000,
  GENERATOR_SPAN = 2048
};
// Registers (tigon2_registers.lss); base, producer and reference or consumer of a buffer follow one another.
enum {
  REG_RX_BUFFER_BASE = 0xc0,
  REG_RX_BUFFER_REFERENCE = 0xc8,
  REG_TX_BUFFER_BASE = 0xd0,
  REG_TX_BUFFER_CONSUMER = 0xd8,
  REG_MAC_RX_PRODUCER = 0xe0,
  REG_MAC_RX_CONSUMER = 0xe4,
  REG_MAC_RX_REFERENCE = 0xe8,
  REG_MAC_TX_PRODUCER = 0xf0,
  REG_MAC_TX_CONSUMER = 0xf4,
  REG_DMA_READ_PRODUCER = 0x100,
  REG_DMA_READ_CONSUMER = 0x104,
  REG_ASSIST_STATE = 0x11c,
  REG_DMA_WRITE_PRODUCER = 0x120,
  REG_DMA_WRITE_CONSUMER = 0x124,
  REG_STACK_OFFSET_A = 0x150,
  REG_MAC_TX_STATE = 0x200,
  REG_MAC_RX_STATE = 0x220
};
// Entries of the rings, and how many of them may be outstanding.
enum {
  GENERATOR_DMA_ENTRIES = 64,
  GENERATOR_DMA_MOST = 62,
  GENERATOR_SEND_ENTRIES = 256,
  GENERATOR_RECEIVE_ENTRIES = 512,
  GENERATOR_SENDS_MOST = 128,
  GENERATOR_RECEIVES_MOST = 250,
  GENERATOR_QUEUE = 256
};
enum { GENERATOR_ACTIVE = 0x4 /* bytes in order */, GENERATOR_FILLS = 0x20000, GENERATOR_FREES = 0x80000 };
// What the reply to a request is for.
enum {
  GENERATOR_WRITTEN,
  GENERATOR_DESCRIPTOR,
  GENERATOR_POLL_RECEIVED,
  GENERATOR_POLL_WRITES,
  GENERATOR_POLL_READS,
  GENERATOR_POLL_SENT
};

static void push_request(self_t *self, mem_op op, uint32_t address, uint8_t size, uint64_t data, uint32_t tag) {
  typeof_port(nic_request) request = {.op = op, .size = size, .address = address, .tag = tag};
  request.data = data;
  self->queue[self->queue_end++ % GENERATOR_QUEUE] = request;
}
static void write_sram(self_t *self, uint32_t address, uint32_t high, uint32_t low) {
  push_request(self, mem_op_write, address, 8, (uint64_t)high << 32 | low, GENERATOR_WRITTEN);
}
static void write_register(self_t *self, uint32_t offset, uint32_t value) {
  push_request(self, mem_op_write, GENERATOR_REGISTERS + offset, 4, value, GENERATOR_WRITTEN);
}
static void read_register(self_t *self, uint32_t offset, uint32_t tag) {
  push_request(self, mem_op_read, GENERATOR_REGISTERS + offset, 4, 0, tag);
}
static uint32_t queue_room(const self_t *self) {
  return GENERATOR_QUEUE - (self->queue_end - self->queue_first);
}

// Whether there is anything to send, and so whether more can follow.
static void choose_traffic(self_t *self) {
  self->exhausted = param(ratio_out) == 0 || (!param(input)[0] && param(payload) == 0);
  if (self->exhausted && self->moving != generator_transfer_to_host) self->loaded = false; // it has no turn any more
}

init() {
  if (param(payload) != 0 && (param(payload) < 18 || param(payload) > 1472))
    sim_input_error("generated frames have 18 to 1472 bytes of payload, not %lld", (long long)param(payload));
  if (param(input)[0]) packet_read_open(&self->source, param(input));
  if (param(output)[0]) packet_write_open(&self->sink, param(output));
  choose_traffic(self);
  self->send_address = GENERATOR_SEND_BASE;
  write_register(self, REG_STACK_OFFSET_A, GENERATOR_STACK_END - GENERATOR_K1);
  for (uint32_t at = REG_TX_BUFFER_BASE; at <= REG_TX_BUFFER_CONSUMER; at += 4)
    write_register(self, at, GENERATOR_SEND_BASE);
  for (uint32_t at = REG_RX_BUFFER_BASE; at <= REG_RX_BUFFER_REFERENCE; at += 4)
    write_register(self, at, GENERATOR_RECEIVE_BASE);
  write_register(self, REG_ASSIST_STATE, 1);
  write_register(self, REG_MAC_TX_STATE, 2);
  write_register(self, REG_MAC_RX_STATE, 2);
}

check_state() {
  if (self->moving != generator_transfer_none && self->checked > self->move_length)
    sim_error("%u bytes of a frame of %u were sent to the checker", self->checked, self->move_length);
}

handler(reset, payload) {
  choose_traffic(self);
}
handler(reset, count) {
  choose_traffic(self);
}
handler(reset, ratio_out) {
  choose_traffic(self);
}

phase_start() {
  accept(memory_reply, true);
  accept(nic_reply, true);
  for (int i = 0; i < width(other_count); i++) accept(other_count, i, true);
  bool finished = self->exhausted && !self->loaded;
  for (int i = 0; i < width(own_count); i++) send(own_count, i, finished ? TRAFFIC_NO_MORE : self->sends);
  for (int i = 0; i < width(done); i++) send(done, i, finished && self->moving == generator_transfer_none);
  send_if(nic_request, self->queue_first != self->queue_end, self->queue[self->queue_first % GENERATOR_QUEUE]);

  bool writes = self->moving == generator_transfer_to_host;
  uint32_t base = writes ? GENERATOR_HOST_SENDS + GENERATOR_SPAN * (self->sends % GENERATOR_SENDS_MOST)
                         : GENERATOR_HOST_RECEIVES + GENERATOR_SPAN * (self->fetched % 256);
  uint32_t left = self->move_length - self->requested;
  typeof_port(memory_request) request = {.op = writes ? mem_op_write : mem_op_read,
                                         .address = base + self->requested,
                                         .size = (uint8_t)(left < 64 ? left : 64)};
  bool requesting = self->moving != generator_transfer_none && left != 0;
  if (requesting && writes) memcpy(&request.data, self->frame + self->requested, request.size);
  send_if(memory_request, requesting, request);

  // Frames go to the checker when they have been transferred.
  bool checking = self->moving != generator_transfer_none && self->completed == self->move_length;
  wire_beat_512 beat = {0};
  if (checking) {
    uint32_t rest = self->move_length - self->checked;
    beat.count = (uint8_t)(rest < 64 ? rest : 64);
    beat.start = self->checked == 0;
    beat.end = rest <= 64;
    memcpy(&beat.bytes, (writes ? self->frame : self->received_frame) + self->checked, beat.count);
  }
  for (int i = 0; i < width(sent_beats); i++) send_if(sent_beats, i, checking && writes, beat);
  for (int i = 0; i < width(received_beats); i++) send_if(received_beats, i, checking && !writes, beat);
}

static void load_frame(self_t *self) {
  bool more = param(count) == 0 || self->sends < (uint64_t)param(count);
  uint64_t stamp = 0;
  if (more && param(input)[0])
    more = packet_next(&self->source, self->frame, VLAN_MOST_TAGGED, &self->length, &stamp);
  else if (more)
    self->length = udp_frame(self->frame, 0, self->sends, (uint32_t)param(payload), (uint64_t)param(seed));
  self->loaded = more;
  self->exhausted = !more;
  if (more) VLAN_REQUIRE_SENT(self->sends + 1, self->length);
}

// Whether the loaded frame may be sent: there is room for it, and its turn has come.
static bool may_send(const self_t *self, uint32_t other) {
  if (!self->loaded || queue_room(self) < 40 || self->sends - self->transmitted >= GENERATOR_SENDS_MOST ||
      self->reads - self->read_done > GENERATOR_DMA_MOST - 2)
    return false;
  return param(ratio_in) <= 0 || self->sends / (uint64_t)param(ratio_out) * (uint64_t)param(ratio_in) <= other;
}

// Queues a transfer into the send buffer.
static void queue_read(self_t *self, uint32_t host, uint32_t local, uint32_t length, uint32_t control) {
  uint32_t entry = GENERATOR_DMA_READ + 32 * (self->reads++ % GENERATOR_DMA_ENTRIES);
  write_sram(self, entry, 0, host);
  write_sram(self, entry + 8, local, length);
  write_sram(self, entry + 16, control, 0);
}

// The loaded frame is in host memory: queues its descriptors for the assists.
static void queue_send(self_t *self) {
  uint32_t at = self->send_address, host = GENERATOR_HOST_SENDS + GENERATOR_SPAN * (self->sends % GENERATOR_SENDS_MOST),
           size = GENERATOR_RECEIVE_BASE - GENERATOR_SEND_BASE;
  uint32_t headers = udp_is(self->frame, self->length) && self->length > UDP_HEADERS ? UDP_HEADERS : 14,
           rest = at + headers;
  write_sram(self, GENERATOR_MAC_SEND + 8 * (self->sends % GENERATOR_SEND_ENTRIES), at, self->length);
  queue_read(self, host, at, headers, GENERATOR_ACTIVE);
  queue_read(self, host + headers, rest < GENERATOR_RECEIVE_BASE ? rest : rest - size, self->length - headers,
             GENERATOR_ACTIVE | GENERATOR_FILLS);
  at = (at + self->length + 7) & ~7u;
  self->send_address = at < GENERATOR_RECEIVE_BASE ? at : at - size;
  self->sends++;
  count(frames_sent);
  write_register(self, REG_MAC_TX_PRODUCER, 8 * (self->sends % GENERATOR_SEND_ENTRIES));
  write_register(self, REG_DMA_READ_PRODUCER, 32 * (self->reads % GENERATOR_DMA_ENTRIES));
}

// A received frame's descriptor has been read: queues the DMA write of the frame.
static void queue_receive(self_t *self, uint64_t descriptor) {
  uint32_t entry = GENERATOR_DMA_WRITE + 32 * (self->queued % GENERATOR_DMA_ENTRIES),
           length = (uint32_t)(descriptor & 0xffff) - 4;
  if (length > sizeof self->received_frame) sim_error("a received frame has %u bytes", (unsigned)length);
  write_sram(self, entry, 0, GENERATOR_HOST_RECEIVES + GENERATOR_SPAN * (self->queued % 256));
  write_sram(self, entry + 8, (uint32_t)(descriptor >> 32), length);
  write_sram(self, entry + 16, GENERATOR_ACTIVE | GENERATOR_FREES, 0);
  self->lengths[self->queued++ % 256] = length;
  write_register(self, REG_DMA_WRITE_PRODUCER, 32 * (self->queued % GENERATOR_DMA_ENTRIES));
  write_register(self, REG_MAC_RX_CONSUMER, 8 * (self->queued % GENERATOR_RECEIVE_ENTRIES));
  write_register(self, REG_MAC_RX_REFERENCE, 8 * (self->queued % GENERATOR_RECEIVE_ENTRIES));
}

// A pointer register of a ring was read: advances the count of entries up to it.
static void advance(self_t *self, uint32_t *entries, uint32_t pointer, uint32_t entry_bytes, uint32_t ring_entries) {
  *entries += (pointer / entry_bytes - *entries) % ring_entries;
  self->polls--;
}

static void handle_reply(self_t *self, uint32_t tag, uint64_t value) {
  switch (tag) {
  case GENERATOR_DESCRIPTOR: queue_receive(self, value); break;
  case GENERATOR_POLL_RECEIVED:
    advance(self, &self->received, (uint32_t)value - GENERATOR_MAC_RECEIVE, 8, GENERATOR_RECEIVE_ENTRIES);
    break;
  case GENERATOR_POLL_WRITES:
    advance(self, &self->written, (uint32_t)value - GENERATOR_DMA_WRITE, 32, GENERATOR_DMA_ENTRIES);
    break;
  case GENERATOR_POLL_READS:
    advance(self, &self->read_done, (uint32_t)value - GENERATOR_DMA_READ, 32, GENERATOR_DMA_ENTRIES);
    break;
  case GENERATOR_POLL_SENT:
    advance(self, &self->transmitted, (uint32_t)value - GENERATOR_MAC_SEND, 8, GENERATOR_SEND_ENTRIES);
    break;
  default: break;
  }
}

// Polls the rings, and reads descriptors of received frames that can be forwarded.
static void poll_rings(self_t *self) {
  while (self->descriptors_read != self->received &&
         queue_room(self) > 40 + 7 * (self->descriptors_read - self->queued) &&
         self->descriptors_read - self->written < GENERATOR_DMA_MOST &&
         self->descriptors_read - self->fetched < GENERATOR_RECEIVES_MOST)
    push_request(self, mem_op_read, GENERATOR_MAC_RECEIVE + 8 * (self->descriptors_read++ % GENERATOR_RECEIVE_ENTRIES),
                 8, 0, GENERATOR_DESCRIPTOR);
  if (self->polls || queue_room(self) < GENERATOR_QUEUE - 8) return;
  self->polls = 4;
  read_register(self, REG_MAC_RX_PRODUCER, GENERATOR_POLL_RECEIVED);
  read_register(self, REG_DMA_WRITE_CONSUMER, GENERATOR_POLL_WRITES);
  read_register(self, REG_DMA_READ_CONSUMER, GENERATOR_POLL_READS);
  read_register(self, REG_MAC_TX_CONSUMER, GENERATOR_POLL_SENT);
}

// Begins the transfer of a frame, of a received one if there is one.
static void begin_transfer(self_t *self, uint32_t other) {
  if (!self->loaded && !self->exhausted) load_frame(self);
  if (self->fetched != self->written) {
    self->moving = generator_transfer_from_host;
    self->move_length = self->lengths[self->fetched % 256];
  } else if (may_send(self, other)) {
    self->moving = generator_transfer_to_host;
    self->move_length = self->length;
  }
  self->requested = self->completed = self->checked = 0;
}

// The frame has been transferred and checked.
static void end_transfer(self_t *self) {
  if (self->moving == generator_transfer_to_host) {
    queue_send(self);
    self->loaded = false;
  } else {
    self->fetched++;
    count(frames_received);
    if (param(output)[0])
      packet_write(&self->sink, self->received_frame, self->move_length,
                   (uint64_t)((unsigned __int128)now() * 1000000000 / ticks_per_second()));
  }
  sim_progress();
  self->moving = generator_transfer_none;
}

phase_end() {
  if (transferred(nic_request)) {
    self->queue_first++;
    count(requests);
  }
  if (transferred(nic_reply)) {
    if (data(nic_reply).error) sim_error("the NIC replies to a request with an error");
    handle_reply(self, data(nic_reply).tag, data(nic_reply).data);
  }
  poll_rings(self);
  if (self->moving == generator_transfer_none) {
    begin_transfer(self, width(other_count) ? data(other_count) : TRAFFIC_NO_MORE);
    return;
  }
  if (self->completed == self->move_length) {
    self->checked += 64;
    if (self->checked >= self->move_length) end_transfer(self);
    return;
  }
  if (transferred(memory_request)) self->requested += data(memory_request).size;
  if (transferred(memory_reply)) {
    uint32_t left = self->move_length - self->completed, size = left < 64 ? left : 64;
    if (data(memory_reply).error) sim_error("host memory has no such address");
    if (self->moving == generator_transfer_from_host)
      memcpy(self->received_frame + self->completed, &data(memory_reply).data, size);
    self->completed += size;
  }
}

next_event() {
  return cycle();
}
