// dma_assist.c: DMA between NIC memory and host memory; see dma_assist.lss.
//
// Three activities share the module: reading the next descriptor ahead, moving the data of the present one, and
// writing registers afterwards.  All outputs are offered from state, so the assist adds no combinational path.
//
// Transfers pass through their stages in order, so each stage works on one of them; which one is noted (find_stages)
// whenever a transfer enters or leaves a stage, and is not looked for in every cycle.  Beginning and ending transfers
// is looked at only after that, or when a ring has work.
#include "nic/dma_assist.h"
#include "memory/memory_error.h"
#include "nic/assist_memory.h"

#define SPLIT_DESCRIPTORS (width(descriptor_memory_request) > 0)
#define UNIT              ((uint32_t)param(width) / 8)
#define WRITES_HOST       (param(direction) != assist_direction_inward) // host memory

// The nth oldest transfer outstanding.
static inline int slot_of(const self_t *self, int nth) {
  return (self->oldest + nth) % (int)param(outstanding);
}

// The transfer in a slot.
static inline dma_transfer *at(self_t *self, int slot) {
  return &self->slots[param(outstanding) > 1 ? slot : 0];
}

static inline bool is_outward(const dma_transfer *under) {
  return param(direction) == assist_direction_both ? under->outward : param(direction) == assist_direction_outward;
}

// Whether the words of a transfer keep their value between a bus and a memory of different byte order.
static inline bool keeps_word_values(const dma_transfer *under) {
  return param(word_value_bit) && under->word_values;
}

// What the control word says that is not the same for all transfers.
static inline void decode_control(dma_transfer *next) {
  next->outward =
      param(direction) == assist_direction_both ? (next->control & (uint32_t)param(outward_bit)) != 0 : WRITES_HOST;
  next->stores_checksum = (next->control & (uint32_t)param(checksum_bit)) != 0;
  next->begins_checksum = (next->control & (uint32_t)param(checksum_begin_bit)) != 0;
  next->advances = (next->control & (uint32_t)param(advance_bit)) != 0;
  next->word_values = (next->control & (uint32_t)param(word_value_bit)) != 0;
}

check_state() {
  const dma_offers offers = self->offers;
  if ((dma_offers_bus(offers) || dma_offers_beat(offers)) && self->at_bus < 0)
    sim_error("something is offered to the bus, of no transfer");
  if (dma_offers_memory(offers) && self->offer_slot < 0) sim_error("memory is asked, for no transfer");
  if (self->fetch != dma_fetch_nothing && self->fetch_ring < 0) sim_error("a descriptor is read, of no ring");
}

handler(send_working) {
  send(working, self->at_work);
}

phase_start() {
  const dma_offers offers = self->offers;
  if (__builtin_expect(!offers, 1)) {
    send_nothing(memory_request);
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    send_nothing(bus_request);
    send_nothing(bus_write_data);
    return;
  }
  if (dma_offers_memory(offers)) {
    const bool descriptor = self->offer_kind == assist_request_descriptor;
    const uint32_t tag = (uint32_t)param(tag) + (descriptor ? assist_request_descriptor : assist_request_data);
    typeof_port(memory_request) offer = {.op = self->offer_op,
                                         .size = self->offer_bytes,
                                         .tag = tag,
                                         .address = self->offer_address,
                                         .data = self->offer_data};
    send(memory_request, offer);
  } else {
    send_nothing(memory_request);
  }
  if (WRITES_HOST && dma_offers_beat(offers))
    send(bus_write_data, self->beat);
  else
    send_nothing(bus_write_data);
  if (__builtin_expect(
          !(offers & (dma_offers_of_bus(true) | dma_offers_of_register(true) | dma_offers_of_descriptor(true))), 1)) {
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    send_nothing(bus_request);
    return;
  }
  if (SPLIT_DESCRIPTORS) {
    const mem_request_64 reads = {.op = mem_op_read,
                                  .size = 8,
                                  .tag = (uint32_t)param(tag) + assist_request_descriptor,
                                  .address = self->offer_address};
    send_if(descriptor_memory_request, dma_offers_descriptor(offers), reads);
  }
  if (dma_offers_register(offers)) {
    const register_update *update = &self->updates[(self->update_first + self->updates_open) & 7];
    typeof_port(registers_request)
        writes = {.op = mem_op_write, .size = 4, .address = update->offset, .data = update->value};
    send(registers_request, writes);
  } else {
    send_nothing(registers_request);
  }
  if (dma_offers_bus(offers))
    send(bus_request, self->piece);
  else
    send_nothing(bus_request);
}

// Queues the write of a register; `ring` says what it completes.
static void update(self_t *self, int64_t offset, uint32_t value, int ring) {
  int at = (self->update_first + self->updates_open + self->updates_waiting) & 7;
  self->updates[at] = (register_update){.offset = (uint32_t)offset, .value = value};
  self->update_ring[at] = ring;
  self->updates_waiting++;
  self->offers |= dma_offers_of_register(true);
}

// Notes which transfer each stage works on: the oldest that is in it.  To be called when one enters or leaves a stage.
static __attribute__((noinline)) void find_stages(self_t *self) {
  self->at_memory = self->at_reply = self->at_data = self->at_bus = self->at_sent = self->at_unknown = -1;
  for (int nth = self->count - 1; nth >= 0; nth--) {
    const int slot = slot_of(self, nth);
    const uint32_t stages = dma_stages(&self->slots[slot], is_outward(&self->slots[slot]));
    if (stages & DMA_AT_MEMORY) self->at_memory = slot;
    if (stages & DMA_AT_REPLY) self->at_reply = slot;
    if (stages & DMA_AT_DATA) self->at_data = slot;
    if (stages & DMA_AT_BUS) self->at_bus = slot;
    if (stages & DMA_AT_SENT) self->at_sent = slot;
    if (stages & DMA_AT_UNKNOWN) self->at_unknown = slot;
  }
  self->pending_work = true;
}

static inline void sum_bytes(self_t *self, dma_transfer *of, assist_run bytes, uint32_t count) {
  dma_sum(of, bytes, count, param(checksum_begin_bit) != 0, &self->sum, &self->sum_odd);
}

// Eight bytes of the descriptor that is read ahead have come.
static void fetched(self_t *self, uint64_t number) {
  const uint64_t bytes = assist_bytes(number, 8, param(big_endian));
  if (self->fetch_got > sizeof self->raw - 8) sim_error("more of a descriptor has come than it has");
  memcpy(self->raw + self->fetch_got, &bytes, 8);
  self->fetch_got += 8;
  if (self->fetch_got < dma_read_bytes(DMA_LAYOUT)) return;
  self->fetch = dma_fetch_read;
  self->pending_work = true;
}

// The next request to memory: the descriptor that is read ahead, between bursts, or data, or a checksum.
static inline void offer_request(self_t *self) {
  const bool refers = self->at_memory >= 0;
  dma_transfer *of = at(self, refers ? self->at_memory : 0);
  uint32_t count = 0;
  bool in_burst = false;
  if (refers && of->memory_left) {
    const uint32_t used = self->tail - self->head;
    in_burst = self->burst_left != 0;
    if (!in_burst) {
      // Bursts end at multiples of the width, so that they never cut a piece in two.
      uint32_t run = assist_min((uint32_t)param(burst) - (of->address & (UNIT - 1)), of->memory_left);
      if (is_outward(of) ? used + self->requested + run + 8 <= (uint32_t)param(buffer) : used >= run)
        self->burst_left = run;
    }
    if (self->burst_left) count = assist_piece(UNIT, of->address, of->memory_left, of->base, of->limit);
    if (!is_outward(of) && used < count) count = 0;
  }
  if (!in_burst && self->fetch == dma_fetch_reading && self->fetch_requested < dma_read_bytes(DMA_LAYOUT)) {
    DMA_OFFER_REQUEST(assist_request_descriptor, mem_op_read, 8, self->fetch_address + self->fetch_requested);
  } else if (count) {
    DMA_OFFER_REQUEST(assist_request_data, is_outward(of) ? mem_op_read : mem_op_write, count, of->address);
    if (!is_outward(of))
      assist_run_into(
          &self->offer_data, sizeof self->offer_data,
          assist_run_swap(assist_run_peek(load_span(queue, 0, param(buffer)), param(buffer), self->head, UNIT, count),
                          UNIT, count, param(big_endian)));
  } else if (refers && dma_sum_due(of) && of->memory_left == 0 && of->reply_left == 0 && of->bus_coming == 0 &&
             !of->sum_waiting) {
    DMA_OFFER_REQUEST(assist_request_checksum, mem_op_write, 2, of->checksum_address);
    assist_run_into(&self->offer_data, sizeof self->offer_data, (assist_run){{of->sum, 0}});
  }
}

// The next beat of a transfer to the host, or the next piece of it.
static inline void send_on(self_t *self) {
  dma_transfer *of = at(self, self->at_bus);
  if (of->bus_now) {
    if (dma_offers_beat(self->offers)) return;
    const uint32_t count = assist_min(8, of->bus_now);
    const uint64_t bytes = assist_queue_peek(load_span(queue, 0, param(buffer)), param(buffer), self->head, count);
    self->offers |= dma_offers_of_beat(true);
    self->beat.bytes = keeps_word_values(of) ? assist_swap_words(bytes, count) : bytes;
    self->beat.count = (uint8_t)count;
    self->beat.last = count == of->bus_now;
    return;
  }
  const uint32_t used = self->tail - self->head;
  if (__builtin_expect(of->dropped, false)) {
    // Data of a transfer go on the bus only when the one before it is known to be good; those of a dropped one never
    // do.
    uint32_t gone = assist_min(used, of->bus_left);
    self->head += gone;
    of->bus_left -= gone;
    find_stages(self);
  } else if (!dma_offers_bus(self->offers) && self->at_unknown == self->at_bus) {
    const uint32_t length = dma_next_piece(of, param(bus_burst), keeps_word_values(of));
    if (used < length) return;
    self->offers |= dma_offers_of_bus(true);
    self->piece = (bus_request){.write = true, .address = of->host, .length = length};
  }
}

// The next piece of a transfer from the host, when there is room for it.
static inline void request_bus(self_t *self) {
  if (dma_offers_bus(self->offers)) return;
  const dma_transfer *of = at(self, self->at_bus);
  const uint32_t length = dma_next_piece(of, param(bus_burst), keeps_word_values(of));
  if (self->tail - self->head + self->coming + length > (uint32_t)param(buffer)) return;
  self->offers |= dma_offers_of_bus(true);
  self->piece = (bus_request){.address = of->host, .length = length};
}

// ---- What the other sides did in a cycle -------------------------------------------------------------------------

// The register bank accepted a write.
static inline void update_accepted(self_t *self) {
  self->updates_open++;
  if (--self->updates_waiting == 0) self->offers = dma_offers_set_register(self->offers, false);
}

// A register was written.
static inline void updated(self_t *self) {
  const int ring = self->update_ring[self->update_first];
  if (ring >= 0) self->taken[ring]--;
  self->update_first = (self->update_first + 1) & 7;
  self->updates_open--;
  self->pending_work = true;
}

// NIC memory took what was offered.
static inline void memory_accepted(self_t *self) {
  self->offers = dma_offers_set_memory(self->offers, false);
  dma_transfer *of = at(self, self->offer_slot);
  if (self->offer_kind == assist_request_data) {
    const uint32_t count = self->offer_bytes;
    of->address = assist_advance(of->address, count, of->base, of->limit);
    of->memory_left -= count;
    self->burst_left -= assist_min(count, self->burst_left);
    if (is_outward(of))
      self->requested += count;
    else
      self->head += count;
    self->gap = self->burst_left == 0;
    if (of->memory_left == 0) find_stages(self);
  } else if (self->offer_kind == assist_request_descriptor) {
    self->fetch_requested += 8;
  } else {
    of->sum_waiting = true;
    find_stages(self);
  }
}

// NIC memory replied for a transfer: with bytes for the host, or that bytes or a checksum are written.
static inline void memory_replied(self_t *self, dma_transfer *of, assist_run reply) {
  if (of->sum_waiting) {
    of->sum_waiting = false;
    of->sum_stored = true;
    find_stages(self);
    return;
  }
  const uint32_t count = assist_piece(UNIT, of->reply_address, of->reply_left, of->base, of->limit);
  if (is_outward(of)) {
    const assist_run bytes = assist_run_swap(reply, UNIT, count, param(big_endian));
    assist_run_put(store_span(queue, 0, param(buffer)), param(buffer), self->tail, UNIT, bytes, count);
    self->tail += count;
    self->requested -= count;
    sum_bytes(self, of, bytes, count);
  }
  of->reply_address = assist_advance(of->reply_address, count, of->base, of->limit);
  of->reply_left -= count;
  if (of->reply_left == 0) find_stages(self);
}

// A beat came from the host: bytes of a transfer, or an error.
static inline void host_sent(self_t *self, bus_beat got) {
  dma_transfer *of = self->at_data < 0 ? NULL : at(self, self->at_data);
  if (__builtin_expect(got.error, false)) {
    count(bus_errors);
    if (of) of->failed = true;
    find_stages(self);
  }
  if (!of || is_outward(of) || !got.count) return;
  if (keeps_word_values(of)) got.bytes = assist_swap_words(got.bytes, got.count);
  assist_queue_put(store_span(queue, 0, param(buffer)), param(buffer), self->tail, got.bytes, got.count);
  self->tail += got.count;
  self->coming -= got.count;
  of->bus_coming -= got.count;
  sum_bytes(self, of, (assist_run){{got.bytes, 0}}, got.count);
  if (of->bus_coming == 0) find_stages(self);
}

// A beat left for the host.
static inline void beat_left(self_t *self) {
  dma_transfer *of = at(self, self->at_bus);
  self->offers = dma_offers_set_beat(self->offers, false);
  self->head += self->beat.count;
  of->bus_now -= self->beat.count;
  if (of->bus_now == 0 && of->bus_left == 0) find_stages(self);
}

// The bus accepted a piece of a transfer.
static inline void piece_accepted(self_t *self) {
  dma_transfer *of = at(self, self->at_bus);
  self->offers = dma_offers_set_bus(self->offers, false);
  of->bus_left -= self->piece.length;
  of->host += self->piece.length;
  if (is_outward(of)) {
    of->bus_now = self->piece.length;
  } else {
    of->bus_coming += self->piece.length;
    self->coming += self->piece.length;
    find_stages(self);
  }
}

// ---- Ends and starts of transfers --------------------------------------------------------------------------------

// A transfer of a ring failed: it will be repeated, so what was taken behind it is forgotten.
static inline void rewind_ring(self_t *self, uint32_t state) {
  if (param(state_offset) >= 0) {
    update(self, param(state_offset), state | (uint32_t)param(failed_bit), DMA_NO_RING);
    self->failing = true;
  }
  for (int nth = 1; nth < param(outstanding); nth++) self->slots[slot_of(self, nth)].dropped = nth < self->count;
  self->rewinding = true;
  self->fetch_dropped = self->fetch == dma_fetch_reading;
  if (self->fetch == dma_fetch_read) {
    self->taken[self->fetch_ring]--;
    self->fetch = dma_fetch_nothing;
  }
}

// Queues the registers that the end of a transfer changes.
static inline void write_back(self_t *self, const dma_transfer *done) {
  const uint32_t end = assist_advance(done->start_address, done->length, done->base, done->limit);
  const bool good = !done->failed && !done->dropped;
  if (good && done->stores_checksum && param(checksum_offset) >= 0)
    update(self, param(checksum_offset), done->sum, DMA_NO_RING);
  if (good && done->advances && param(advance_offset) >= 0)
    update(self, param(advance_offset), assist_round_up(end, param(advance_round), done->base, done->limit),
           DMA_NO_RING);
  if (done->ring < 0) {
    if (param(address_offset) >= 0) update(self, param(address_offset), end, DMA_NO_RING);
    const uint32_t ended =
        (done->control & ~(uint32_t)param(active_bit)) | (done->failed ? (uint32_t)param(failed_bit) : 0);
    update(self, param(state_offset), ended, DMA_DIRECT_END);
  } else if (good) {
    update(self, param(consumer_offsets)[done->ring], done->done_consumer, done->ring);
  } else {
    self->taken[done->ring]--;
  }
}

// The end of the oldest transfer, when nothing of it is left to do and its registers can be queued.
static inline void end_oldest(self_t *self, uint32_t state) {
  const dma_transfer *done = at(self, self->oldest);
  if (!self->count || self->updates_waiting + self->updates_open > 3 || !dma_has_ended(done, is_outward(done))) return;
  if (!done->failed && !done->dropped && done->summed) self->good_sum = done->sum, self->good_odd = done->odd;
  write_back(self, done);
  if (done->failed && !done->dropped && done->ring >= 0) rewind_ring(self, state);
  if (!done->dropped) {
    count(transfers);
    count(bytes, done->length);
    count(errors, done->failed);
    event(done, done->outward, done->start_host, done->start_address, done->length, done->ring);
  } else {
    event(dropped, done->ring);
  }
  self->oldest = slot_of(self, 1);
  self->count--;
  find_stages(self);
}

// The next transfer if one can begin: `next` is that of direct mode, or becomes what the descriptor that was read ahead
// says.
static inline bool take_next(self_t *self, dma_transfer *next, bool direct) {
  if (direct ? self->count != 0 : self->fetch != dma_fetch_read) return false;
  if (direct) {
    self->direct_busy = true;
  } else {
    next->ring = self->fetch_ring;
    next->done_consumer = self->next_consumer[self->fetch_ring];
    dma_take_descriptor(next, self->raw, DMA_LAYOUT);
  }
  decode_control(next);
  // Transfers of both directions, or of direct mode, share neither queue nor order.
  const dma_transfer *newest = &self->slots[slot_of(self, self->count ? self->count - 1 : 0)];
  if (self->count && (newest->outward != next->outward || newest->ring == DMA_NO_RING)) return false;
  if (next->ring >= 0) self->fetch = dma_fetch_nothing;
  dma_begin(next);
  return true;
}

// A transfer enters the assist.
static inline void begin(self_t *self, const dma_transfer *next) {
  if (__builtin_expect(keeps_word_values(next) && ((next->host | next->length) & 3), 0))
    sim_warn("%u bytes at the host's 0x%llx are to keep the value of words, but these are not whole words: the bytes "
             "of the others keep their order",
             next->length, (unsigned long long)next->host);
  if (self->count == 0) self->sum = self->good_sum, self->sum_odd = self->good_odd; // nothing of what failed is in it
  self->slots[slot_of(self, self->count)] = *next;
  self->count++;
  event(begun, next->outward, next->start_host, next->start_address, next->length, next->ring);
  find_stages(self);
}

// Begins to read the next descriptor of a ring ahead, if it has one.
static inline void fetch_from(self_t *self, int ring, uint32_t producer, uint32_t consumer) {
  if (self->taken[ring] == 0) self->next_consumer[ring] = consumer;
  if (self->next_consumer[ring] == producer || self->taken[ring] > param(outstanding) + 1) return;
  self->fetch = dma_fetch_reading;
  self->fetch_ring = ring;
  self->fetch_address = self->next_consumer[ring];
  self->fetch_requested = self->fetch_got = 0;
  self->next_consumer[ring] = assist_ring_next(self->next_consumer[ring], param(descriptor_size), param(ring_size));
  self->taken[ring]++;
  count(descriptor_reads);
}

// Direct mode has ended once the cleared active bit is seen.
static inline void end_direct(self_t *self, uint32_t active) {
  if (self->direct_busy && !self->count && !self->updates_open && !self->updates_waiting && !active)
    self->direct_busy = false;
}

// A descriptor that was discarded has come.
static inline void forget_descriptor(self_t *self) {
  if (!self->fetch_dropped || self->fetch != dma_fetch_read) return;
  self->fetch = dma_fetch_nothing;
  self->fetch_dropped = false;
  self->taken[self->fetch_ring]--;
}

// Whether descriptors may be read ahead, given what says that the assist runs.
static inline bool may_fetch(const self_t *self, uint32_t run) {
  const bool runs =
      (run & (uint32_t)param(run_bits)) == (uint32_t)param(run_bits) && !(run & (uint32_t)param(pause_bits));
  return runs && !self->failing && !self->rewinding;
}

// After a failure the ring begins again at its consumer register when all has ended.
static inline void end_rewinding(self_t *self, int rings) {
  if (!self->rewinding || self->count || self->fetch != dma_fetch_nothing) return;
  self->rewinding = false;
  for (int i = 0; i < rings; i++) self->rewinding |= self->taken[i] != 0;
}

// What to offer in the next cycle.
static inline void make_offers(self_t *self) {
  if (!(self->offers & (dma_offers_of_memory(true) | dma_offers_of_descriptor(true)))) {
    if (self->gap)
      self->pending_work = true;
    else
      offer_request(self);
    self->gap = false;
  }
  if (self->at_bus < 0) return;
  if (is_outward(at(self, self->at_bus)))
    send_on(self);
  else
    request_bus(self);
}

// What was sent is confirmed in the cycle after.
static void confirm_sent(self_t *self) {
  if (self->at_sent < 0) return;
  at(self, self->at_sent)->confirmed = true;
  find_stages(self);
}

static __attribute__((noinline)) void lose_request(self_t *self, uint32_t address) {
  MEMORY_ERROR("a request to NIC memory failed: nothing responds near address 0x%08x", (unsigned)address);
}

// Returns whether it is at work since this cycle, or no longer.
static inline bool find_work(self_t *self) {
  self->was_at_work = self->at_work;
  self->at_work = self->count || self->fetch || self->updates_open || self->updates_waiting || self->direct_busy;
  return self->at_work != self->was_at_work;
}

phase_end() {
  const uint32_t state = width(direct_state) ? data(direct_state) : 0;
  const uint32_t active = state & (uint32_t)param(active_bit);

  // When nothing moved and no ring has work, this cycle is like the last one.
  count(busy, self->count != 0);
  bool control = transferred(registers_request) | transferred(registers_reply);
  if (SPLIT_DESCRIPTORS) control |= transferred(descriptor_memory_request) | transferred(descriptor_memory_reply);
  bool moved = control | transferred(memory_request) | transferred(memory_reply) | transferred(bus_request) |
               transferred(bus_read_data);
  if (WRITES_HOST) moved |= transferred(bus_write_data);
  uint32_t work = active;
  const uint32_t polls = (uint32_t)(((int32_t)self->fetch - 1) >> 31); // all ones: no descriptor is read ahead
  for (int i = 0; i < width(producer); i++)
    work |= ((self->taken[i] ? self->next_consumer[i] : data(consumer, param(consumer_lane)[i])) ^
             data(producer, param(producer_lane)[i])) &
            polls;
  if (!(work | moved | self->pending_work)) return;

  // What the other sides did in this cycle.
  if (control) {
    if (transferred(registers_request)) update_accepted(self);
    if (transferred(registers_reply)) updated(self);
    if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_request)) {
      self->offers = dma_offers_set_descriptor(self->offers, false);
      self->fetch_requested += 8;
    }
    if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_reply)) fetched(self, data(descriptor_memory_reply).data);
  }
  if (transferred(memory_request)) memory_accepted(self);
  if (transferred(memory_reply)) {
    const assist_run reply = assist_run_of(&data(memory_reply).data, sizeof data(memory_reply).data);
    dma_transfer *of = at(self, self->at_reply < 0 ? 0 : self->at_reply);
    if (__builtin_expect(data(memory_reply).error, false))
      lose_request(self, self->at_reply < 0 ? self->fetch_address : of->reply_address);
    if (!SPLIT_DESCRIPTORS && data(memory_reply).tag == (uint32_t)param(tag) + assist_request_descriptor)
      fetched(self, reply.w[0]);
    else
      memory_replied(self, of, reply);
  }
  if (transferred(bus_read_data)) host_sent(self, data(bus_read_data));
  if (WRITES_HOST) confirm_sent(self);
  if (WRITES_HOST && transferred(bus_write_data)) beat_left(self);
  if (transferred(bus_request)) piece_accepted(self);

  // Ends and starts of transfers, direct mode first, then the descriptor that was read ahead.
  if (work | self->pending_work) {
    const bool idle = (state & (uint32_t)param(error_bits)) != 0;
    self->pending_work = false;
    end_direct(self, active);
    end_oldest(self, state);
    forget_descriptor(self);
    if (idle) self->failing = false;
    if (self->count < param(outstanding) && !idle && !self->failing) {
      const bool direct = active && !self->direct_busy && param(state_offset) >= 0;
      dma_transfer next = {.ring = DMA_NO_RING, .control = state};
      if (direct) {
        next.host = (uint64_t)(width(direct_host_high) ? data(direct_host_high) : 0) << 32 |
                    (width(direct_host_low) ? data(direct_host_low) : 0);
        next.address = width(direct_address) ? data(direct_address) : 0;
        next.length = width(direct_length) ? data(direct_length) & 0xffff : 0;
      }
      if (take_next(self, &next, direct)) {
        for (int i = 0; i < width(wrap_base); i++)
          dma_wrap(&next, data(wrap_base, i),
                   param(limit_lane)[i] >= 0 ? data(wrap_limit, param(limit_lane)[i]) : (uint32_t)param(wrap_end));
        begin(self, &next);
      }
    }
    end_rewinding(self, width(producer));
    const uint32_t run = width(assist_state) ? data(assist_state) : (uint32_t)param(run_bits);
    if (!idle && may_fetch(self, run))
      for (int i = 0; i < width(producer) && self->fetch == dma_fetch_nothing; i++)
        fetch_from(self, i, data(producer, param(producer_lane)[i]), data(consumer, param(consumer_lane)[i]));
    self->pending_work |= idle | self->failing | self->direct_busy | (self->at_sent >= 0) | find_work(self);
  }
  make_offers(self);
}

init() {
  MEMORY_ERROR_CHOOSE();
  find_stages(self);
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

next_event() {
  return self->at_work || self->was_at_work ? cycle() : never(); // `working` shows that it ended
}
