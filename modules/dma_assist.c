// dma_assist.c: DMA between NIC memory and host memory; see dma_assist.lss.
//
// Three activities share the module: reading the next descriptor ahead, moving the data of the present one, and
// writing registers afterwards.  All outputs are offered from state, so the assist adds no combinational path.
//
// Transfers pass through their stages in order, so each stage works on one of them; which one is noted (find_stages)
// whenever a transfer enters or leaves a stage, and is not looked for in every cycle.  Beginning and ending transfers is
// looked at only after that, or when a ring has work.
#include "assist_memory.h"
#include "dma_assist.h"

// Bytes of a descriptor that are read: up to the last field, in whole words of memory.
#define FIELDS_END(a, b) ((a) > (b) ? (a) : (b))
#define READ_BYTES                                                                                                             \
  ((uint32_t)(FIELDS_END(FIELDS_END(param(at_control), param(at_checksum)), FIELDS_END(param(at_host_low), param(at_address))) + 4 + 7) & ~7u)
#define SPLIT_DESCRIPTORS (width(descriptor_memory_request) > 0)
#define UNIT ((uint32_t)param(width) / 8)

phase_start() {
  if (__builtin_expect(!self->offers, 1)) {
    send_nothing(memory_request);
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    send_nothing(bus_request);
    send_nothing(bus_write_data);
    return;
  }
  const uint32_t offers = self->offers;
  const mem_request_64 reads = {.op = mem_op_read, .size = 8, .tag = self->offer.tag, .address = self->offer.address};
  if (offers & DMA_OFFERS_MEMORY) send(memory_request, self->offer);
  else send_nothing(memory_request);
  if (SPLIT_DESCRIPTORS) send_if(descriptor_memory_request, (offers & DMA_OFFERS_DESCRIPTOR) != 0, reads);
  if (offers & DMA_OFFERS_REGISTER) {
    const register_update *update = &self->updates[(self->update_first + self->updates_open) & 7];
    typeof_port(registers_request) writes = {.op = mem_op_write, .size = 4, .address = update->offset, .data = update->value};
    send(registers_request, writes);
  } else {
    send_nothing(registers_request);
  }
  if (offers & DMA_OFFERS_BUS) send(bus_request, self->bus_offer);
  else send_nothing(bus_request);
  if (offers & DMA_OFFERS_BEAT) send(bus_write_data, self->beat);
  else send_nothing(bus_write_data);
}

// Queues the write of a register; `ring` says what it completes.
static void update(self_t *self, int64_t offset, uint32_t value, int ring) {
  int at = (self->update_first + self->updates_open + self->updates_waiting) & 7;
  self->updates[at] = (register_update){.offset = (uint32_t)offset, .value = value};
  self->update_ring[at] = ring;
  self->updates_waiting++;
  self->offers |= DMA_OFFERS_REGISTER;
}

// The nth oldest transfer under way.
static inline int slot_of(const self_t *self, int nth) {
  int slot = self->oldest + nth;
  return slot >= param(under_way) ? slot - param(under_way) : slot;
}

static inline bool is_outward(const dma_transfer *under) {
  return param(direction) == assist_direction_both ? under->outward : param(direction) == assist_direction_outward;
}

static inline bool sums(const dma_transfer *under) { return (under->control & (uint32_t)param(checksum_bit)) != 0; }

// Whether the bus sees the words of a transfer with their bytes in opposite order.
static inline bool swaps(const dma_transfer *under) { return param(no_swap_bit) && !(under->control & (uint32_t)param(no_swap_bit)); }

// Whether the checksum of a transfer has still to be stored: until then no later one refers to memory.
static inline bool sum_due(const dma_transfer *under) { return sums(under) && under->ring >= 0 && !under->failed && !under->sum_stored; }

// Notes which transfer each stage works on: the oldest that is in it.  To be called when one enters or leaves a stage.
static __attribute__((noinline)) void find_stages(self_t *self) {
  self->at_memory = self->at_reply = self->at_data = self->at_bus = self->at_sent = self->at_unknown = -1;
  for (int nth = self->count - 1; nth >= 0; nth--) {
    const int slot = slot_of(self, nth);
    const dma_transfer *under = &self->under[slot];
    const bool outward = is_outward(under);
    if (under->memory_left || (sum_due(under) && !under->dropped)) self->at_memory = slot;
    if (under->reply_left || under->sum_waiting) self->at_reply = slot;
    if (outward ? under->bus_left || !under->settled : under->bus_coming != 0) self->at_data = slot;
    if (under->bus_left || under->bus_now) self->at_bus = slot;
    if (outward && under->bus_left == 0 && under->bus_now == 0 && !under->settled) self->at_sent = slot;
    if (outward && (!under->settled || (under->failed && !under->dropped))) self->at_unknown = slot;
  }
  self->turned = true;
}

// Takes the fields of the descriptor that was read ahead.
static void take_descriptor(self_t *self, dma_transfer *next) {
  next->ring = self->fetch_ring;
  next->done_consumer = self->next_consumer[self->fetch_ring];
  next->control = assist_field(self->raw, param(at_control), 4, param(big_endian));
  next->host = assist_field(self->raw, param(at_host_low), 4, param(big_endian));
  if (param(at_host_high) >= 0) next->host |= (uint64_t)assist_field(self->raw, param(at_host_high), 4, param(big_endian)) << 32;
  next->address = assist_field(self->raw, param(at_address), 4, param(big_endian));
  next->length = assist_field(self->raw, param(at_length), 2, param(big_endian));
  next->checksum_address = assist_field(self->raw, param(at_checksum), 4, param(big_endian));
}

// Offers a reference to memory; what is written is filled in afterwards.
#define OFFER(kind, does, bytes, at)                                                                                         \
  do {                                                                                                                       \
    self->offers |= (kind) == DMA_OFFER_DESCRIPTOR && SPLIT_DESCRIPTORS ? DMA_OFFERS_DESCRIPTOR : DMA_OFFERS_MEMORY;          \
    self->offer_kind = (kind);                                                                                               \
    self->offer_slot = self->at_memory;                                                                                      \
    self->offer = (typeof_port(memory_request)){.op = (does), .size = (uint8_t)(bytes), .address = (at)};                     \
    self->offer.tag = (uint32_t)param(tag) + ((kind) == DMA_OFFER_DESCRIPTOR ? ASSIST_DESCRIPTOR : ASSIST_DATA);              \
  } while (0)

phase_end() {
  const uint32_t state = width(direct_state) ? data(direct_state) : 0;
  const bool resting = (state & (uint32_t)param(error_bits)) != 0;

  // ---- When nothing moved and no ring has work, this cycle is like the last one ---------------------------------
  bool asked = (state & (uint32_t)param(active_bit)) != 0;
  if (self->fetch == DMA_FETCH_NOTHING)
    for (int i = 0; i < width(producer); i++) asked |= (self->taken[i] ? self->next_consumer[i] : data(consumer, i)) != data(producer, i);
  bool moved = transferred(memory_reply) | transferred(registers_reply) | transferred(bus_read_data);
  if (SPLIT_DESCRIPTORS) moved |= transferred(descriptor_memory_reply);
  if (self->offers) {
    moved |= transferred(memory_request) | transferred(registers_request) | transferred(bus_request) | transferred(bus_write_data);
    if (SPLIT_DESCRIPTORS) moved |= transferred(descriptor_memory_request);
  }
  self->busy += self->count != 0;
  if (!(moved | asked | self->turned)) return;

  // ---- What the other sides did in this cycle ------------------------------------------------------------
  if ((self->offers & DMA_OFFERS_REGISTER) && transferred(registers_request)) {
    self->updates_open++;
    if (--self->updates_waiting == 0) self->offers &= (uint8_t)~DMA_OFFERS_REGISTER;
  }
  if (transferred(registers_reply)) {
    int ring = self->update_ring[self->update_first];
    if (ring >= 0) self->taken[ring]--;
    self->update_first = (self->update_first + 1) & 7;
    self->updates_open--;
    self->turned = true;
  }
  if (SPLIT_DESCRIPTORS && (self->offers & DMA_OFFERS_DESCRIPTOR) && transferred(descriptor_memory_request)) {
    self->offers &= (uint8_t)~DMA_OFFERS_DESCRIPTOR;
    self->fetch_asked += 8;
  }
  if ((self->offers & DMA_OFFERS_MEMORY) && transferred(memory_request)) {
    self->offers &= (uint8_t)~DMA_OFFERS_MEMORY;
    dma_transfer *of = self->offer_slot < 0 ? NULL : &self->under[self->offer_slot];
    if (self->offer_kind == DMA_OFFER_DESCRIPTOR) {
      self->fetch_asked += 8;
    } else if (self->offer_kind == DMA_OFFER_CHECKSUM) {
      of->sum_waiting = true;
      find_stages(self);
    } else {
      uint32_t count = self->offer.size;
      of->address = assist_advance(of->address, count, of->base, of->limit);
      of->memory_left -= count;
      self->burst_left -= assist_min(count, self->burst_left);
      if (is_outward(of)) self->asked += count;
      else self->head += count;
      self->gap = self->burst_left == 0;
      if (of->memory_left == 0) find_stages(self);
    }
  }
  bool descriptor_came = SPLIT_DESCRIPTORS && transferred(descriptor_memory_reply);
  uint64_t descriptor_data = descriptor_came ? data(descriptor_memory_reply).data : 0;
  if (transferred(memory_reply)) {
    const assist_run answer = assist_run_of(&data(memory_reply).data, sizeof data(memory_reply).data);
    dma_transfer *of = &self->under[self->at_reply < 0 ? 0 : self->at_reply];
    uint32_t number = data(memory_reply).tag - (uint32_t)param(tag);
    if (data(memory_reply).error) sim_error("NIC memory answers a reference of the DMA assist near 0x%x with an error", self->at_reply < 0 ? self->fetch_address : of->reply_address);
    if (number == ASSIST_DESCRIPTOR) {
      descriptor_came = true;
      descriptor_data = answer.w[0];
    } else if (of->sum_waiting) {
      of->sum_waiting = false;
      of->sum_stored = true;
      find_stages(self);
    } else {
      uint32_t count = assist_piece_of(UNIT, of->reply_address, of->reply_left, of->base, of->limit);
      if (is_outward(of)) {
        assist_run bytes = assist_run_swap(answer, count, param(big_endian));
        assist_run_put(self->queue, param(buffer), self->tail, bytes, count);
        self->tail += count;
        self->asked -= count;
        if (sums(of)) of->sum = assist_run_sum(of->sum, of->odd, bytes, count);
        of->odd ^= count & 1;
      }
      of->reply_address = assist_advance(of->reply_address, count, of->base, of->limit);
      of->reply_left -= count;
      if (of->reply_left == 0) find_stages(self);
    }
  }
  if (descriptor_came) {
    uint64_t bytes = assist_bytes(descriptor_data, 8, param(big_endian));
    memcpy(self->raw + self->fetch_got, &bytes, 8);
    self->fetch_got += 8;
    if (self->fetch_got >= READ_BYTES) {
      self->fetch = DMA_FETCHED;
      self->turned = true;
    }
  }
  const int last_sent = self->at_sent; // before this cycle
  if (transferred(bus_read_data)) {
    bus_beat got = data(bus_read_data);
    dma_transfer *of = self->at_data < 0 ? NULL : &self->under[self->at_data];
    if (__builtin_expect(got.error, false)) {
      self->bus_errors++;
      if (of) of->failed = true;
      find_stages(self);
    }
    if (of && !is_outward(of) && got.count) {
      if (swaps(of)) got.bytes = assist_swap_words(got.bytes, got.count);
      assist_queue_put(self->queue, param(buffer), self->tail, got.bytes, got.count);
      self->tail += got.count;
      self->coming -= got.count;
      of->bus_coming -= got.count;
      if (sums(of)) of->sum = assist_sum(of->sum, of->odd, got.bytes, got.count);
      of->odd ^= got.count & 1;
      if (of->bus_coming == 0) find_stages(self);
    }
  }
  if (last_sent >= 0) {
    self->under[last_sent].settled = true;
    find_stages(self);
  }
  if ((self->offers & DMA_OFFERS_BEAT) && transferred(bus_write_data)) {
    dma_transfer *of = &self->under[self->at_bus];
    self->offers &= (uint8_t)~DMA_OFFERS_BEAT;
    self->head += self->beat.count;
    of->bus_now -= self->beat.count;
    if (of->bus_now == 0 && of->bus_left == 0) find_stages(self);
  }
  if ((self->offers & DMA_OFFERS_BUS) && transferred(bus_request)) {
    dma_transfer *of = &self->under[self->at_bus];
    self->offers &= (uint8_t)~DMA_OFFERS_BUS;
    of->bus_left -= self->bus_offer.length;
    of->host += self->bus_offer.length;
    if (is_outward(of)) {
      of->bus_now = self->bus_offer.length;
    } else {
      of->bus_coming += self->bus_offer.length;
      self->coming += self->bus_offer.length;
      find_stages(self);
    }
  }

  // ---- Ends and starts of transfers -------------------------------------------------------------------------------
  if (self->turned | asked) {
    // Direct mode has ended once the cleared active bit is seen.
    self->turned = false;
    if (self->direct_busy && !self->count && !self->updates_open && !self->updates_waiting && !(state & (uint32_t)param(active_bit)))
      self->direct_busy = false;

    // The end of the oldest transfer.
    dma_transfer *done = &self->under[self->oldest];
    if (self->count && done->memory_left == 0 && done->reply_left == 0 && done->bus_left == 0 && done->bus_now == 0 && done->bus_coming == 0 &&
        (done->settled || !is_outward(done)) && self->updates_waiting + self->updates_open <= 3 && (!sum_due(done) || done->dropped)) {
      uint32_t end = assist_advance(done->start_address, done->length, done->base, done->limit);
      const bool good = !done->failed && !done->dropped;
      if (good && sums(done) && param(checksum_offset) >= 0) update(self, param(checksum_offset), done->sum, DMA_NO_RING);
      if (good && (done->control & (uint32_t)param(advance_bit)) && param(advance_offset) >= 0) {
        uint32_t up = (0u - end) & (uint32_t)(param(advance_round) - 1);
        update(self, param(advance_offset), assist_advance(end, up, done->base, done->limit), DMA_NO_RING);
      }
      if (done->ring < 0) {
        if (param(address_offset) >= 0) update(self, param(address_offset), end, DMA_NO_RING);
        uint32_t ended = done->control & ~(uint32_t)param(active_bit);
        update(self, param(state_offset), done->failed ? ended | (uint32_t)param(failed_bit) : ended, DMA_DIRECT_END);
      } else if (good) {
        update(self, param(consumer_offsets)[done->ring], done->done_consumer, done->ring);
      } else {
        self->taken[done->ring]--;
      }
      if (done->failed && !done->dropped && done->ring >= 0) {
        // It will be repeated, so what was taken behind it is forgotten.
        if (param(state_offset) >= 0) {
          update(self, param(state_offset), state | (uint32_t)param(failed_bit), DMA_NO_RING);
          self->failing = true;
        }
        for (int nth = 1; nth < param(under_way); nth++) self->under[slot_of(self, nth)].dropped = nth < self->count;
        self->rewinding = true;
        self->fetch_dropped = self->fetch == DMA_FETCHING;
        if (self->fetch == DMA_FETCHED) {
          self->taken[self->fetch_ring]--;
          self->fetch = DMA_FETCH_NOTHING;
        }
      }
      if (!done->dropped) {
        self->transfers++;
        self->bytes += done->length;
        self->errors += done->failed;
        event(done, done->outward, done->start_host, done->start_address, done->length, done->ring);
      }
      self->oldest = slot_of(self, 1);
      self->count--;
      find_stages(self);
    }
    if (self->fetch_dropped && self->fetch == DMA_FETCHED) {
      self->fetch = DMA_FETCH_NOTHING;
      self->fetch_dropped = false;
      self->taken[self->fetch_ring]--;
    }

    // The start of the next one: direct mode first, then the descriptor that was read ahead.
    if (resting) self->failing = false;
    if (self->count < param(under_way) && !resting && !self->failing) {
      const bool direct = (state & (uint32_t)param(active_bit)) && !self->direct_busy && param(state_offset) >= 0;
      dma_transfer next = {.ring = DMA_NO_RING, .control = state};
      bool begin = false;
      if (direct && self->count == 0) {
        begin = true;
        self->direct_busy = true;
        next.host = (uint64_t)(width(direct_host_high) ? data(direct_host_high) : 0) << 32 | (width(direct_host_low) ? data(direct_host_low) : 0);
        next.address = width(direct_address) ? data(direct_address) : 0;
        next.length = width(direct_length) ? data(direct_length) & 0xffff : 0;
      } else if (self->fetch == DMA_FETCHED && !direct) {
        begin = true;
        take_descriptor(self, &next);
      }
      next.outward = param(direction) == assist_direction_both ? (next.control & (uint32_t)param(outward_bit)) != 0
                                                               : param(direction) == assist_direction_outward;
      // Transfers of both directions, or of direct mode, share neither queue nor order.
      const dma_transfer *newest = &self->under[slot_of(self, self->count ? self->count - 1 : 0)];
      if (self->count && (newest->outward != next.outward || newest->ring == DMA_NO_RING)) begin = false;
      if (begin) {
        if (next.ring >= 0) self->fetch = DMA_FETCH_NOTHING;
        next.start_address = next.reply_address = next.address;
        next.start_host = next.host;
        next.memory_left = next.reply_left = next.bus_left = next.length;
        for (int i = 0; i < width(wrap_base); i++) {
          uint32_t limit = i < width(wrap_limit) ? data(wrap_limit, i) : (uint32_t)param(wrap_end);
          if (next.address >= data(wrap_base, i) && next.address < limit) {
            next.base = data(wrap_base, i);
            next.limit = limit;
          }
        }
        self->under[slot_of(self, self->count)] = next;
        self->count++;
        find_stages(self);
      }
    }

    // After a failure the ring begins again at its consumer register when all has ended.
    if (self->rewinding && !self->count && self->fetch == DMA_FETCH_NOTHING) {
      self->rewinding = false;
      for (int i = 0; i < width(producer); i++) self->rewinding |= self->taken[i] != 0;
    }

    // Reading the next descriptor ahead.
    if (self->fetch == DMA_FETCH_NOTHING && width(producer)) {
      uint32_t running = width(assist_state) ? data(assist_state) : (uint32_t)param(run_bits);
      bool run = !resting && !self->failing && !self->rewinding && (running & (uint32_t)param(run_bits)) == (uint32_t)param(run_bits) && !(running & (uint32_t)param(pause_bits));
      for (int i = 0; i < width(producer) && run; i++) {
        if (self->taken[i] == 0) self->next_consumer[i] = data(consumer, i);
        if (self->next_consumer[i] == data(producer, i) || self->taken[i] > param(under_way) + 1) continue;
        uint32_t ring_mask = (uint32_t)param(ring_bytes) - 1, at = self->next_consumer[i];
        self->fetch = DMA_FETCHING;
        self->fetch_ring = i;
        self->fetch_address = at;
        self->fetch_asked = self->fetch_got = 0;
        self->next_consumer[i] = (at & ~ring_mask) | ((at + (uint32_t)param(descriptor_bytes)) & ring_mask);
        self->taken[i]++;
        self->descriptor_reads++;
        break;
      }
    }

    self->at_work = self->count || self->fetch || self->updates_open || self->updates_waiting || self->direct_busy;
    self->turned |= resting | self->failing | self->direct_busy | (self->at_sent >= 0);
  }

  // ---- What to offer in the next cycle --------------------------------------------------------------------------
  if (self->gap) {
    self->gap = false;
    self->turned = true;
  } else if (!(self->offers & (DMA_OFFERS_MEMORY | DMA_OFFERS_DESCRIPTOR))) {
    const uint32_t used = self->tail - self->head;
    const bool reads_on = self->fetch == DMA_FETCHING && self->fetch_asked < READ_BYTES;
    uint32_t count = 0;
    bool in_burst = false;
    dma_transfer *of = self->at_memory < 0 ? NULL : &self->under[self->at_memory];
    if (of && of->memory_left) {
      in_burst = self->burst_left != 0;
      if (!in_burst) {
        // Bursts end at multiples of the width, so that they never cut a piece in two.
        uint32_t run = assist_min((uint32_t)param(burst) - (of->address & (UNIT - 1)), of->memory_left);
        if (is_outward(of) ? used + self->asked + run + 8 <= (uint32_t)param(buffer) : used >= run) self->burst_left = run;
      }
      if (self->burst_left) count = assist_piece_of(UNIT, of->address, of->memory_left, of->base, of->limit);
      if (!is_outward(of) && used < count) count = 0;
    }
    if (reads_on && !in_burst) {
      OFFER(DMA_OFFER_DESCRIPTOR, mem_op_read, 8, self->fetch_address + self->fetch_asked);
    } else if (count) {
      OFFER(DMA_OFFER_DATA, is_outward(of) ? mem_op_read : mem_op_write, count, of->address);
      if (!is_outward(of))
        assist_run_into(&self->offer.data, sizeof self->offer.data,
                        assist_run_swap(assist_run_peek(self->queue, param(buffer), self->head, count), count, param(big_endian)));
    } else if (of && sum_due(of) && of->memory_left == 0 && of->reply_left == 0 && of->bus_coming == 0 && !of->sum_waiting) {
      OFFER(DMA_OFFER_CHECKSUM, mem_op_write, 2, of->checksum_address);
      assist_run_into(&self->offer.data, sizeof self->offer.data, (assist_run){{of->sum, 0}});
    }
  }
  if (self->at_bus < 0) return;
  dma_transfer *on_bus = &self->under[self->at_bus];
  const uint32_t used = self->tail - self->head;
  if (is_outward(on_bus)) {
    // What lies behind a transfer goes on the bus only when that one is known to be good; what was dropped does not at all.
    if (__builtin_expect(on_bus->dropped, false)) {
      uint32_t gone = assist_min(used, on_bus->bus_left);
      self->head += gone;
      on_bus->bus_left -= gone;
      find_stages(self);
    } else if (!(self->offers & (DMA_OFFERS_BUS | DMA_OFFERS_BEAT)) && on_bus->bus_now == 0 && self->at_unknown == self->at_bus) {
      uint32_t chunk = assist_min((uint32_t)param(bus_burst), on_bus->bus_left);
      if (used >= chunk) {
        self->offers |= DMA_OFFERS_BUS;
        self->bus_offer = (bus_request){.write = true, .address = on_bus->host, .length = chunk};
      }
    }
    if (!(self->offers & DMA_OFFERS_BEAT) && on_bus->bus_now) {
      uint32_t count = assist_min(8, on_bus->bus_now);
      self->offers |= DMA_OFFERS_BEAT;
      self->beat = (bus_beat){.bytes = assist_queue_peek(self->queue, param(buffer), self->head, count), .count = (uint8_t)count,
                              .last = count == on_bus->bus_now};
      if (swaps(on_bus)) self->beat.bytes = assist_swap_words(self->beat.bytes, count);
    }
  } else if (!(self->offers & DMA_OFFERS_BUS)) {
    uint32_t chunk = assist_min((uint32_t)param(bus_burst), on_bus->bus_left);
    if (used + self->coming + chunk <= (uint32_t)param(buffer)) {
      self->offers |= DMA_OFFERS_BUS;
      self->bus_offer = (bus_request){.address = on_bus->host, .length = chunk};
    }
  }
}

init() { find_stages(self); }

next_event() { return self->at_work ? cycle() : never(); }

#undef SPLIT_DESCRIPTORS
#undef READ_BYTES
#undef FIELDS_END
#undef UNIT
#undef OFFER
