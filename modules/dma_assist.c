// dma_assist.c: DMA between NIC memory and host memory; see dma_assist.lss.
//
// Three activities share the module: reading the next descriptor ahead, moving the data of the present one, and
// writing registers afterwards.  All outputs are offered from state, so the assist adds no combinational path.
#include "assist_memory.h"
#include "dma_assist.h"


// Bytes of a descriptor that are read: up to the last field, in whole words of memory.
#define FIELDS_END(a, b) ((a) > (b) ? (a) : (b))
#define READ_BYTES                                                                                                             \
  ((uint32_t)(FIELDS_END(FIELDS_END(param(at_control), param(at_checksum)), FIELDS_END(param(at_host_low), param(at_address))) + 4 + 7) & ~7u)
#define SPLIT_DESCRIPTORS (width(descriptor_memory_request) > 0)

phase_start() {
  accept(memory_reply, true);
  if (SPLIT_DESCRIPTORS) accept(descriptor_memory_reply, true);
  accept(registers_reply, true);
  accept(bus_read_data, true);
  for (int i = 0; i < width(producer); i++) accept(producer, i, true);
  for (int i = 0; i < width(consumer); i++) accept(consumer, i, true);
  for (int i = 0; i < width(assist_state); i++) accept(assist_state, i, true);
  for (int i = 0; i < width(direct_state); i++) accept(direct_state, i, true);
  for (int i = 0; i < width(direct_host_high); i++) accept(direct_host_high, i, true);
  for (int i = 0; i < width(direct_host_low); i++) accept(direct_host_low, i, true);
  for (int i = 0; i < width(direct_address); i++) accept(direct_address, i, true);
  for (int i = 0; i < width(direct_length); i++) accept(direct_length, i, true);
  for (int i = 0; i < width(wrap_base); i++) accept(wrap_base, i, true);
  for (int i = 0; i < width(wrap_limit); i++) accept(wrap_limit, i, true);

  if (__builtin_expect(!self->offers, 1)) {
    send_nothing(memory_request);
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    send_nothing(bus_request);
    send_nothing(bus_write_data);
    return;
  }
  bool descriptor = self->offering && self->offer_kind == DMA_OFFER_DESCRIPTOR && SPLIT_DESCRIPTORS;
  if (self->offering && !descriptor) send(memory_request, self->offer);
  else send_nothing(memory_request);
  if (SPLIT_DESCRIPTORS) {
    if (descriptor) send(descriptor_memory_request, self->offer);
    else send_nothing(descriptor_memory_request);
  }
  if (self->updates_waiting) {
    int at = (self->update_first + self->updates_open) & 7;
    typeof_port(registers_request) request = {0};
    request.op = mem_op_write;
    request.size = 4;
    request.address = self->updates[at].offset;
    request.data = self->updates[at].value;
    send(registers_request, request);
  } else {
    send_nothing(registers_request);
  }
  if (self->offering_bus) send(bus_request, self->bus_offer);
  else send_nothing(bus_request);
  if (self->sending) send(bus_write_data, self->beat);
  else send_nothing(bus_write_data);
}

// Queues the write of a register; `ring` says what it completes.
#define UPDATE(at_offset, to_value, of_ring)                                        \
  do {                                                                              \
    int at = (self->update_first + self->updates_open + self->updates_waiting) & 7; \
    self->updates[at].offset = (uint32_t)(at_offset);                               \
    self->updates[at].value = (to_value);                                           \
    self->update_ring[at] = (of_ring);                                              \
    self->updates_waiting++;                                                        \
  } while (0)

phase_end() {
  const uint32_t state = width(direct_state) ? data(direct_state) : 0;
  const bool resting = (state & (uint32_t)param(error_bits)) != 0;

  // ---- An idle assist looks at its rings only --------------------------------------------------------------
  if (__builtin_expect(!self->at_work, 1)) {
    bool work = (state & (uint32_t)param(active_bit)) != 0;
    for (int i = 0; i < width(producer); i++) work |= data(producer, i) != data(consumer, i);
    if (__builtin_expect(!work, 1)) return;
  }

  // ---- What the other sides did in this cycle ------------------------------------------------------------
  if (self->updates_waiting && transferred(registers_request)) {
    self->updates_waiting--;
    self->updates_open++;
  }
  if (self->updates_open && transferred(registers_reply)) {
    int ring = self->update_ring[self->update_first];
    if (ring >= 0) self->taken[ring]--;
    self->update_first = (self->update_first + 1) & 7;
    self->updates_open--;
  }
  if (self->offering) {
    bool taken = self->offer_kind == DMA_OFFER_DESCRIPTOR && SPLIT_DESCRIPTORS ? transferred(descriptor_memory_request) : transferred(memory_request);
    if (taken) {
      self->offering = false;
      if (self->offer_kind == DMA_OFFER_DESCRIPTOR) {
        self->fetch_asked += 8;
      } else if (self->offer_kind == DMA_OFFER_CHECKSUM) {
        self->sum_waiting = true;
      } else {
        uint32_t count = self->offer_bytes;
        self->address = assist_advance(self->address, count, self->base, self->limit);
        self->memory_left -= count;
        self->burst_left -= assist_min(count, self->burst_left);
        if (self->outward) self->asked += count;
        else self->head += count;
        self->gap = self->burst_left == 0;
      }
    }
  }
  bool descriptor_came = false;
  uint64_t descriptor_data = 0;
  if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_reply)) {
    descriptor_came = true;
    descriptor_data = data(descriptor_memory_reply).data;
  }
  if (transferred(memory_reply)) {
    if (data(memory_reply).error) sim_error("NIC memory answers a reference of the DMA assist near 0x%x with an error", self->reply_address);
    uint32_t number = data(memory_reply).tag - (uint32_t)param(tag);
    if (number == ASSIST_DESCRIPTOR) {
      descriptor_came = true;
      descriptor_data = data(memory_reply).data;
    } else if (self->sum_waiting) {
      self->sum_waiting = false;
      self->sum_stored = true;
    } else {
      uint32_t count = assist_piece(self->reply_address, self->reply_left, self->base, self->limit);
      if (self->outward) {
        uint64_t bytes = assist_bytes(data(memory_reply).data, count, param(big_endian));
        assist_queue_put(self->queue, param(buffer), self->tail, bytes, count);
        self->tail += count;
        self->asked -= count;
        if (self->control & (uint32_t)param(checksum_bit)) self->sum = assist_sum(self->sum, self->odd, bytes, count);
        self->odd ^= count & 1;
      }
      self->reply_address = assist_advance(self->reply_address, count, self->base, self->limit);
      self->reply_left -= count;
    }
  }
  if (descriptor_came) {
    uint64_t bytes = assist_bytes(descriptor_data, 8, param(big_endian));
    memcpy(self->raw + self->fetch_got, &bytes, 8);
    self->fetch_got += 8;
    if (self->fetch_got >= READ_BYTES) {
      self->fetching = false;
      self->fetched = true;
    }
  }
  if (self->offering_bus && transferred(bus_request)) {
    self->offering_bus = false;
    self->bus_left -= self->bus_offer.length;
    self->host += self->bus_offer.length;
    if (self->outward) self->bus_now = self->bus_offer.length;
    else self->bus_coming += self->bus_offer.length;
  }
  if (self->sending && transferred(bus_write_data)) {
    self->sending = false;
    self->head += self->beat.count;
    self->bus_now -= self->beat.count;
  }
  if (transferred(bus_read_data)) {
    bus_beat got = data(bus_read_data);
    if (got.error) self->failed = true;
    if (!self->outward && got.count) {
      assist_queue_put(self->queue, param(buffer), self->tail, got.bytes, got.count);
      self->tail += got.count;
      self->bus_coming -= got.count;
      if (self->control & (uint32_t)param(checksum_bit)) self->sum = assist_sum(self->sum, self->odd, got.bytes, got.count);
      self->odd ^= got.count & 1;
    }
  }
  if (self->moving) self->busy++;

  // ---- Direct mode has ended once the cleared active bit is seen -------------------------------------------
  if (self->direct_busy && !self->moving && !self->updates_open && !self->updates_waiting && !(state & (uint32_t)param(active_bit)))
    self->direct_busy = false;

  // ---- The end of a transfer -------------------------------------------------------------------------------
  if (self->moving && self->memory_left == 0 && self->reply_left == 0 && self->bus_left == 0 && self->bus_now == 0 &&
      self->bus_coming == 0 && !self->offering_bus && !self->sending && self->updates_waiting + self->updates_open <= 3) {
    bool store = (self->control & (uint32_t)param(checksum_bit)) && self->ring >= 0 && !self->failed;
    if (!store || self->sum_stored) {
      uint32_t end = assist_advance(self->start_address, self->length, self->base, self->limit);
      if (!self->failed && (self->control & (uint32_t)param(checksum_bit)) && param(checksum_offset) >= 0)
        UPDATE(param(checksum_offset), self->sum, DMA_NO_RING);
      if (!self->failed && (self->control & (uint32_t)param(advance_bit)) && param(advance_offset) >= 0) {
        uint32_t up = (0u - end) & (uint32_t)(param(advance_round) - 1);
        UPDATE(param(advance_offset), assist_advance(end, up, self->base, self->limit), DMA_NO_RING);
      }
      if (self->ring >= 0) {
        if (self->failed && param(state_offset) >= 0) {
          UPDATE(param(state_offset), state | (uint32_t)param(failed_bit), DMA_NO_RING);
          self->failing = true;
        }
        UPDATE(param(consumer_offsets)[self->ring], self->done_consumer, self->ring);
      } else {
        if (param(address_offset) >= 0) UPDATE(param(address_offset), end, DMA_NO_RING);
        uint32_t ended = self->control & ~(uint32_t)param(active_bit);
        UPDATE(param(state_offset), self->failed ? ended | (uint32_t)param(failed_bit) : ended, DMA_DIRECT_END);
      }
      self->transfers++;
      self->bytes += self->length;
      self->errors += self->failed;
      event(done, self->outward, self->start_host, self->start_address, self->length, self->ring);
      self->moving = false;
    }
  }

  // ---- The start of the next one: direct mode first, then the descriptor that was read ahead ----------------------
  bool begin = false;
  if (resting) self->failing = false;
  if (!self->moving && !resting && !self->failing) {
    if ((state & (uint32_t)param(active_bit)) && !self->direct_busy && param(state_offset) >= 0) {
      begin = true;
      self->direct_busy = true;
      self->ring = DMA_NO_RING;
      self->control = state;
      self->host = (uint64_t)(width(direct_host_high) ? data(direct_host_high) : 0) << 32 | (width(direct_host_low) ? data(direct_host_low) : 0);
      self->address = width(direct_address) ? data(direct_address) : 0;
      self->length = width(direct_length) ? data(direct_length) & 0xffff : 0;
    } else if (self->fetched) {
      begin = true;
      self->fetched = false;
      self->ring = self->fetch_ring;
      self->done_consumer = self->next_consumer[self->fetch_ring];
      self->control = assist_field(self->raw, param(at_control), 4, param(big_endian));
      self->host = assist_field(self->raw, param(at_host_low), 4, param(big_endian));
      if (param(at_host_high) >= 0) self->host |= (uint64_t)assist_field(self->raw, param(at_host_high), 4, param(big_endian)) << 32;
      self->address = assist_field(self->raw, param(at_address), 4, param(big_endian));
      self->length = assist_field(self->raw, param(at_length), 2, param(big_endian));
      self->checksum_address = assist_field(self->raw, param(at_checksum), 4, param(big_endian));
    }
  }
  if (begin) {
    self->moving = true;
    self->outward = param(direction) == assist_direction_both ? (self->control & (uint32_t)param(outward_bit)) != 0
                                                              : param(direction) == assist_direction_outward;
    self->failed = self->sum_stored = self->odd = false;
    self->sum = 0;
    self->start_address = self->reply_address = self->address;
    self->start_host = self->host;
    self->memory_left = self->reply_left = self->bus_left = self->length;
    self->burst_left = 0;
    self->base = self->limit = 0;
    for (int i = 0; i < width(wrap_base); i++) {
      uint32_t limit = i < width(wrap_limit) ? data(wrap_limit, i) : (uint32_t)param(wrap_end);
      if (self->address >= data(wrap_base, i) && self->address < limit) {
        self->base = data(wrap_base, i);
        self->limit = limit;
      }
    }
  }

  // ---- Reading the next descriptor ahead ----------------------------------------------------------------------
  if (!self->fetching && !self->fetched && width(producer)) {
    uint32_t running = width(assist_state) ? data(assist_state) : (uint32_t)param(run_bits);
    bool run = !resting && (running & (uint32_t)param(run_bits)) == (uint32_t)param(run_bits) && !(running & (uint32_t)param(pause_bits));
    for (int i = 0; i < width(producer) && run; i++) {
      if (self->taken[i] == 0) self->next_consumer[i] = data(consumer, i);
      if (self->next_consumer[i] == data(producer, i) || self->taken[i] > 2) continue;
      uint32_t ring_mask = (uint32_t)param(ring_bytes) - 1, at = self->next_consumer[i];
      self->fetching = true;
      self->fetch_ring = i;
      self->fetch_address = at;
      self->fetch_asked = self->fetch_got = 0;
      self->next_consumer[i] = (at & ~ring_mask) | ((at + (uint32_t)param(descriptor_bytes)) & ring_mask);
      self->taken[i]++;
      self->descriptor_reads++;
      break;
    }
  }

  // ---- What to offer in the next cycle --------------------------------------------------------------------------
  if (!self->offering && !self->gap) {
    mem_request_64 offer = {0};
    uint32_t used = self->tail - self->head;
    uint32_t count = 0;
    bool data_ready = false, in_burst = false;
    if (self->moving && self->memory_left) {
      // Bursts end at multiples of 8, so that they never cut a piece in two.
      uint32_t run = assist_min((uint32_t)param(burst) - (self->address & 7), self->memory_left);
      in_burst = self->burst_left != 0;
      if (!in_burst && (self->outward ? used + self->asked + run + 8 <= (uint32_t)param(buffer) : used >= run)) self->burst_left = run;
      count = assist_piece(self->address, self->memory_left, self->base, self->limit);
      data_ready = self->burst_left != 0 && (self->outward || used >= count);
    }
    if (self->fetching && self->fetch_asked < READ_BYTES && !in_burst) {
      self->offering = true;
      self->offer_kind = DMA_OFFER_DESCRIPTOR;
      offer.op = mem_op_read;
      offer.size = 8;
      offer.address = self->fetch_address + self->fetch_asked;
      offer.tag = (uint32_t)param(tag) + ASSIST_DESCRIPTOR;
    } else if (data_ready) {
      self->offering = true;
      self->offer_kind = DMA_OFFER_DATA;
      self->offer_bytes = count;
      offer.op = self->outward ? mem_op_read : mem_op_write;
      offer.size = (uint8_t)count;
      offer.address = self->address;
      offer.tag = (uint32_t)param(tag) + ASSIST_DATA;
      if (!self->outward)
        offer.data = assist_number(assist_queue_peek(self->queue, param(buffer), self->head, count), count, param(big_endian));
    } else if (self->moving && self->ring >= 0 && self->memory_left == 0 && self->reply_left == 0 && self->bus_coming == 0 && !self->failed &&
               (self->control & (uint32_t)param(checksum_bit)) && !self->sum_waiting && !self->sum_stored) {
      self->offering = true;
      self->offer_kind = DMA_OFFER_CHECKSUM;
      offer.op = mem_op_write;
      offer.size = 2;
      offer.address = self->checksum_address;
      offer.data = self->sum;
      offer.tag = (uint32_t)param(tag) + ASSIST_DATA;
    }
    self->offer = offer;
  }
  self->gap = false;

  if (self->moving && self->outward) {
    uint32_t used = self->tail - self->head;
    if (!self->offering_bus && !self->sending && self->bus_now == 0 && self->bus_left) {
      uint32_t chunk = assist_min((uint32_t)param(bus_burst), self->bus_left);
      if (used >= chunk) {
        self->offering_bus = true;
        self->bus_offer = (bus_request){.write = true, .address = self->host, .length = chunk};
      }
    }
    if (!self->sending && self->bus_now) {
      uint32_t count = assist_min(8, self->bus_now);
      self->sending = true;
      self->beat = (bus_beat){.bytes = assist_queue_peek(self->queue, param(buffer), self->head, count), .count = (uint8_t)count,
                              .last = count == self->bus_now};
    }
  } else if (self->moving && !self->offering_bus && self->bus_left) {
    uint32_t chunk = assist_min((uint32_t)param(bus_burst), self->bus_left);
    if (self->tail - self->head + self->bus_coming + chunk <= (uint32_t)param(buffer)) {
      self->offering_bus = true;
      self->bus_offer = (bus_request){.address = self->host, .length = chunk};
    }
  }

  // Looked at in every cycle, so worked out once.
  self->offers = self->offering | self->offering_bus | self->sending | (self->updates_waiting != 0);
  self->at_work = self->moving | self->fetching | self->fetched | ((self->updates_open | self->updates_waiting) != 0) | self->direct_busy;
}

next_event() { return self->at_work ? cycle() : never(); }

#undef SPLIT_DESCRIPTORS
#undef READ_BYTES
#undef FIELDS_END
#undef UPDATE
