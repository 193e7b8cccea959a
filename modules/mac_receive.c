// mac_receive.c: frames from the wire to NIC memory; see mac_receive.lss.
//
// Arriving beats enter a byte queue; the oldest frame in it is stored while it may still be arriving, and its descriptor is
// written only once it is known to be good.  All outputs are offered from state: no combinational path.
#include "assist_memory.h"
#include "ethernet_fcs.h"
#include "mac_receive.h"


#define SPLIT_DESCRIPTORS (width(descriptor_memory_request) > 0)

phase_start() {
  accept(wire, true);
  accept(memory_reply, true);
  if (SPLIT_DESCRIPTORS) accept(descriptor_memory_reply, true);
  accept(registers_reply, true);
  for (int i = 0; i < width(producer); i++) accept(producer, i, true);
  for (int i = 0; i < width(reference); i++) accept(reference, i, true);
  for (int i = 0; i < width(buffer_producer); i++) accept(buffer_producer, i, true);
  for (int i = 0; i < width(buffer_reference); i++) accept(buffer_reference, i, true);
  for (int i = 0; i < width(buffer_base); i++) accept(buffer_base, i, true);
  for (int i = 0; i < width(buffer_limit); i++) accept(buffer_limit, i, true);
  for (int i = 0; i < width(mac_state); i++) accept(mac_state, i, true);
  if (width(ready)) send(ready, self->can_take);
  if (width(dropped)) send(dropped, self->dropped_count);

  if (__builtin_expect(!self->offering && !self->updating && !self->telling, 1)) {
    send_nothing(memory_request);
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    return;
  }
  bool descriptor = self->storing == RECEIVE_STORES_DESCRIPTOR && SPLIT_DESCRIPTORS;
  if (self->telling == 1) {
    mem_request_64 add = {.op = mem_op_fetch_add, .size = 4, .tag = (uint32_t)param(tag) + ASSIST_DESCRIPTOR, .address = (uint32_t)param(drop_address)};
    add.data = self->drops_to_tell;
    send(memory_request, add);
  } else if (self->offering && !descriptor) send(memory_request, self->offer);
  else send_nothing(memory_request);
  if (SPLIT_DESCRIPTORS) {
    if (self->offering && descriptor) send(descriptor_memory_request, self->offer);
    else send_nothing(descriptor_memory_request);
  }
  if (self->updating) {
    typeof_port(registers_request) request = {0};
    request.op = mem_op_write;
    request.size = 4;
    request.address = self->update.offset;
    request.data = self->update.value;
    send(registers_request, request);
  } else {
    send_nothing(registers_request);
  }
}

#define COUNT_DROP(why, length)  \
  do {                           \
    self->why++;                 \
    self->frames_dropped++;               \
    self->dropped_count++;       \
    self->settling = true;       \
    self->drops_to_tell += param(drop_address) >= 0; \
    event(drop, length);         \
  } while (0)

phase_end() {
  const uint32_t mac = width(mac_state) ? data(mac_state) : (uint32_t)param(run_bits);
  const bool running = (mac & (uint32_t)param(run_bits)) == (uint32_t)param(run_bits) && !(mac & (uint32_t)param(stop_bits));
  const uint32_t mask = (uint32_t)param(pointer_mask);
  const uint32_t ring_mask = (uint32_t)param(ring_bytes) - 1;
  const uint32_t limit = width(buffer_limit) ? data(buffer_limit) : (uint32_t)param(buffer_end);
  const bool beat_came = some(wire);
  self->settling = false;

  // ---- A beat from the wire ------------------------------------------------------------------------------
  if (__builtin_expect(beat_came, 0)) {
    wire_beat_64 beat = data(wire);
    int newest = (self->first + self->frames_waiting - 1) % RECEIVE_FRAMES;
    if (beat.start) {
      self->arriving = true;
      self->skipping = false;
      if (!running) {
        self->skipping = true;
        self->ignored++;
      } else if (self->frames_waiting == RECEIVE_FRAMES) {
        self->skipping = true;
        COUNT_DROP(overruns, 0);
      } else {
        newest = (self->first + self->frames_waiting) % RECEIVE_FRAMES;
        self->frames_waiting++;
        self->frame_bytes[newest] = 0;
        self->frame_state[newest] = RECEIVED_ARRIVING;
        self->fcs = ETHERNET_FCS_START;
      }
    }
    if (self->arriving && !self->skipping) {
      if (self->tail - self->head + beat.count > (uint32_t)param(buffer)) {
        self->frame_state[newest] = RECEIVED_OVERRUN;
        self->skipping = true;
      } else if (self->frame_bytes[newest] + beat.count > (uint32_t)param(max_frame)) {
        self->frame_state[newest] = RECEIVED_DAMAGED;
        self->skipping = true;
      } else {
        assist_queue_put(self->queue, param(buffer), self->tail, beat.bytes, beat.count);
        self->tail += beat.count;
        self->frame_bytes[newest] += beat.count;
        self->fcs = ethernet_fcs(self->fcs, beat.bytes, beat.count);
        if (beat.end) {
          bool good = !beat.error && self->fcs == ETHERNET_FCS_RESIDUE && self->frame_bytes[newest] >= (uint32_t)param(min_frame);
          self->frame_state[newest] = good ? RECEIVED_GOOD : RECEIVED_DAMAGED;
        }
      }
    }
    if (beat.end) self->arriving = false;
  }

  // ---- Whether one more frame surely fits: worked out when something that it depends on has changed -------------------
  uint64_t pointers = data(producer) * UINT64_C(0x9E3779B97F4A7C15) + data(reference) * UINT64_C(0xBF58476D1CE4E5B9) +
                      data(buffer_producer) * UINT64_C(0x94D049BB133111EB) + data(buffer_reference) * UINT64_C(0xD6E8FEB86659FD93) +
                      data(buffer_base) * UINT64_C(0xA0761D6478BD642F) + limit * UINT64_C(0xE7037ED1A0B428DB) + running;
  if (width(ready) && (beat_came | (pointers != self->seen_pointers) | (self->frames_waiting != 0))) {
    self->seen_pointers = pointers;
    const bool could_take = self->can_take;
    uint32_t span = limit - data(buffer_base);
    uint32_t free_bytes = assist_distance(data(buffer_producer), data(buffer_reference) - 8, data(buffer_base), limit);
    if (data(buffer_reference) < data(buffer_base) + 8) free_bytes = assist_distance(data(buffer_producer), data(buffer_reference) + span - 8, data(buffer_base), limit);
    uint32_t free_slots = ((data(reference) & mask) - (data(producer) & mask) - (uint32_t)param(descriptor_bytes)) & ring_mask;
    uint32_t queued = self->tail - self->head;
    self->can_take = running && free_slots / (uint32_t)param(descriptor_bytes) > (uint32_t)self->frames_waiting + 1 &&
                     free_bytes <= span && free_bytes >= queued + 8 * (uint32_t)self->frames_waiting + 3 * (uint32_t)param(max_frame) &&
                     queued + 2 * (uint32_t)param(max_frame) <= (uint32_t)param(buffer) && self->frames_waiting + 2 < RECEIVE_FRAMES;
    self->settling |= could_take != self->can_take;
  }
  if (__builtin_expect(!((uint32_t)self->frames_waiting | self->storing | self->drops_to_tell | self->telling), 1)) return;

  // ---- The count of drops in NIC memory, between frames ------------------------------------------------------------
  if (param(drop_address) >= 0) {
    if (self->telling == 2) {
      if (transferred(memory_reply)) self->telling = 0;
      return;
    }
    if (self->telling == 1) {
      if (transferred(memory_request)) {
        self->telling = 2;
        self->drops_to_tell -= (uint32_t)data(memory_request).data;
      }
      return;
    }
    if (self->drops_to_tell && self->storing == RECEIVE_STORES_NOTHING) {
      self->telling = 1;
      return;
    }
  }

  // ---- What memory and registers did in this cycle --------------------------------------------------------------
  if (transferred(memory_reply)) {
    if (data(memory_reply).error) sim_error("NIC memory answers a reference of the receiving MAC near 0x%x with an error", self->address);
    self->open--;
  }
  if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_reply)) self->open--;
  if (self->offering) {
    bool apart = self->storing == RECEIVE_STORES_DESCRIPTOR && SPLIT_DESCRIPTORS;
    if (apart ? transferred(descriptor_memory_request) : transferred(memory_request)) {
      self->offering = false;
      self->open++;
      if (self->storing == RECEIVE_STORES_DATA) {
        self->address = assist_advance(self->address, self->offer_bytes, self->base, self->limit);
        self->head += self->offer_bytes;
        self->stored += self->offer_bytes;
        self->burst_left -= self->offer_bytes;
        self->gap = self->burst_left == 0;
      } else {
        self->step++;
      }
    }
  }
  if (self->updating && transferred(registers_request)) {
    self->updating = false;
    self->updates_open++;
    self->step++;
  }
  if (self->updates_open && transferred(registers_reply)) self->updates_open--;

  // ---- Storing the oldest frame --------------------------------------------------------------------------------
  int f = self->first;
  if (self->storing == RECEIVE_STORES_NOTHING && self->frames_waiting) {
    uint32_t base = data(buffer_base);
    self->base = base;
    self->limit = limit;
    self->start = self->address = data(buffer_producer);
    self->slot = data(producer) & mask;
    uint32_t to = data(buffer_reference);
    self->room = to == self->start ? limit - base : assist_distance(self->start, to, base, limit);
    self->room = self->room >= 8 ? self->room - 8 : 0;
    self->stored = self->burst_left = 0;
    self->step = 0;
    self->storing = RECEIVE_STORES_DATA;
    uint32_t after = (self->slot & ~ring_mask) | ((self->slot + (uint32_t)param(descriptor_bytes)) & ring_mask);
    if (after == (data(reference) & mask)) {
      COUNT_DROP(no_descriptor, self->frame_bytes[f]);
      self->room = UINT32_MAX; // nothing of it is stored; see `lost`
    }
  }
  if (self->storing == RECEIVE_STORES_DATA) {
    // A frame that is lost leaves the queue when it has arrived; what was stored of it will be overwritten.
    uint32_t length = self->frame_bytes[f];
    bool lost = self->room == UINT32_MAX;
    if (!lost && length > self->room) {
      COUNT_DROP(no_room, length);
      self->room = UINT32_MAX;
      lost = true;
    }
    uint8_t arrived = self->frame_state[f];
    if (!self->offering && (arrived >= RECEIVED_DAMAGED || (lost && arrived == RECEIVED_GOOD)) && !(self->arriving && self->skipping && self->frames_waiting == 1)) {
      if (!lost && arrived == RECEIVED_DAMAGED) COUNT_DROP(damaged, length);
      if (!lost && arrived == RECEIVED_OVERRUN) COUNT_DROP(overruns, length);
      self->head += length - self->stored;
      self->stored = length;
      if (self->open == 0) {
        self->first = (f + 1) % RECEIVE_FRAMES;
        self->frames_waiting--;
        self->storing = RECEIVE_STORES_NOTHING;
      } else {
        self->room = UINT32_MAX;
      }
    } else if (arrived == RECEIVED_GOOD && self->stored == length && self->open == 0 && !self->offering) {
      uint32_t kept = length - (param(keep_fcs) ? 0 : 4);
      uint32_t end = assist_advance(self->start, kept, self->base, self->limit);
      self->next_start = assist_advance(end, (0u - end) & (uint32_t)(param(buffer_round) - 1), self->base, self->limit);
      self->storing = RECEIVE_STORES_DESCRIPTOR;
    }
    if (self->storing == RECEIVE_STORES_DATA && !self->offering && !self->gap && !lost && arrived <= RECEIVED_GOOD && self->stored < length) {
      uint32_t left = length - self->stored, run = (uint32_t)param(burst);
      if (self->burst_left == 0 && (left >= run || arrived == RECEIVED_GOOD)) self->burst_left = assist_min(run, left);
      if (self->burst_left) {
        uint32_t count = assist_min(assist_piece(self->address, left, self->base, self->limit), self->burst_left);
        uint64_t bytes = assist_queue_peek(self->queue, param(buffer), self->head, count);
        self->offer = (mem_request_64){.op = mem_op_write, .size = (uint8_t)count, .tag = (uint32_t)param(tag) + ASSIST_DATA,
                                       .address = self->address, .data = assist_number(bytes, count, param(big_endian))};
        self->offer_bytes = count;
        self->offering = true;
      }
    }
    self->gap = false;
  }
  if (self->storing == RECEIVE_STORES_DESCRIPTOR && !self->offering) {
    uint32_t length = self->frame_bytes[f] - (param(keep_fcs) ? 0 : 4);
    uint32_t after = (self->slot & ~ring_mask) | ((self->slot + (uint32_t)param(descriptor_bytes)) & ring_mask);
    if (self->step == 0) {
      uint64_t number = param(big_endian) ? (uint64_t)self->start << 32 | length : (uint64_t)length << 32 | self->start;
      self->offer = (mem_request_64){.op = mem_op_write, .size = 8, .tag = (uint32_t)param(tag) + ASSIST_DESCRIPTOR,
                                     .address = self->slot + (uint32_t)param(at_address), .data = number};
      self->offering = true;
    } else if (self->step == 1) {
      self->offer = (mem_request_64){.op = mem_op_write, .size = 4, .tag = (uint32_t)param(tag) + ASSIST_DESCRIPTOR,
                                     .address = after + (uint32_t)param(at_address), .data = self->next_start};
      self->offering = true;
    } else if (self->open == 0) {
      self->storing = RECEIVE_STORES_REGISTERS;
      self->step = 0;
    }
  }
  if (self->storing == RECEIVE_STORES_REGISTERS && !self->updating) {
    uint32_t after = (self->slot & ~ring_mask) | ((self->slot + (uint32_t)param(descriptor_bytes)) & ring_mask);
    if (self->step < 2) {
      self->update.offset = (uint32_t)(self->step == 0 ? param(buffer_producer_offset) : param(producer_offset));
      self->update.value = self->step == 0 ? self->next_start : after;
      self->updating = true;
    } else if (self->updates_open == 0) {
      self->frames++;
      self->bytes += self->frame_bytes[f];
      event(received, self->start, self->frame_bytes[f]);
      self->first = (f + 1) % RECEIVE_FRAMES;
      self->frames_waiting--;
      self->storing = RECEIVE_STORES_NOTHING;
    }
  }
}

next_event() { return self->frames_waiting || self->storing != RECEIVE_STORES_NOTHING || self->arriving || self->telling || self->settling ? cycle() : never(); }

#undef SPLIT_DESCRIPTORS
#undef COUNT_DROP
