// mac_transmit.c: frames from NIC memory to the wire; see mac_transmit.lss.
//
// Reading fills a byte queue with whole frames, one after the other; sending empties it at the pace of the wire.  All
// outputs are offered from state, so the assist adds no combinational path.
#include "memory/memory_error.h"
#include "nic/assist_memory.h"
#include "wire/ethernet_fcs.h"

#define SPLIT_DESCRIPTORS (width(descriptor_memory_request) > 0)
#define UNIT              ((uint32_t)param(width) / 8)
#define COUNTS_UNDERRUNS  (param(underrun_counter) >= 0)

handler(offer_beat) {
  send_if(wire, transmit_offers_beat(self->offers), self->beat);
}

phase_start() {
  const transmit_offers offers = self->offers;
  if (__builtin_expect(!(offers & ~transmit_offers_of_beat(true)), 1)) {
    send_nothing(memory_request);
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    return;
  }
  const uint32_t tag = (uint32_t)param(tag) + self->offer_kind;
  if (!transmit_offers_memory(offers)) {
    send_nothing(memory_request);
  } else if (COUNTS_UNDERRUNS && self->offer_kind == assist_request_counter) {
    typeof_port(memory_request)
        adds = {.op = mem_op_fetch_add, .size = 4, .tag = tag, .address = (uint32_t)param(underrun_counter)};
    assist_run_into(&adds.data, sizeof adds.data, (assist_run){{self->underruns_offered, 0}});
    send(memory_request, adds);
  } else {
    typeof_port(memory_request)
        reads = {.op = mem_op_read, .size = self->offer_size, .tag = tag, .address = self->offer_address};
    send(memory_request, reads);
  }
  if (SPLIT_DESCRIPTORS) {
    const mem_request_64 reads = {.op = mem_op_read, .size = 8, .tag = tag, .address = self->offer_address};
    send_if(descriptor_memory_request, transmit_offers_descriptor(offers), reads);
  }
  if (transmit_offers_register(offers)) {
    const register_update *update =
        &self->updates[(self->update_first + self->updates_open) & (param(most_updates) - 1)];
    typeof_port(registers_request)
        writes = {.op = mem_op_write, .size = 4, .address = update->offset, .data = update->value};
    send(registers_request, writes);
  } else {
    send_nothing(registers_request);
  }
}

// Queues the write of a register; `ends_frame` says whether the frame is done with when that has its reply.
static void update(self_t *self, int64_t offset, uint32_t value, bool ends_frame) {
  int at = (self->update_first + self->updates_open + self->updates_waiting) & (param(most_updates) - 1);
  self->updates[at] = (register_update){.offset = (uint32_t)offset, .value = value};
  self->update_last[at] = ends_frame;
  self->updates_waiting++;
  self->offers |= transmit_offers_of_register(true);
}

// Takes the descriptor that was read; its data are waited for.
static void take_descriptor(self_t *self) {
  uint32_t word = assist_field(self->raw, param(at_address), 4, param(big_endian));
  int newest = (self->first + self->frames_waiting) & (param(most_frames) - 1);
  self->address = word & (uint32_t)param(address_mask);
  self->memory_left = assist_field(self->raw, param(at_length), 2, param(big_endian));
  self->frame_vlan[newest] = 0;
  if (word & (uint32_t)param(vlan_bit))
    self->frame_vlan[newest] = assist_field(self->raw, param(at_vlan), 2, param(big_endian)) + 1;
  self->reading = transmit_stage_wait;
}

// Eight bytes of a descriptor have come.
static void fetched(self_t *self, uint64_t number) {
  const uint64_t bytes = assist_bytes(number, 8, param(big_endian));
  if (self->got_bytes > sizeof self->raw - 8) sim_error("more of a descriptor has come than it has");
  memcpy(self->raw + self->got_bytes, &bytes, 8);
  self->got_bytes += 8;
  if (self->got_bytes < (uint32_t)param(descriptor_size)) return;
  if (self->ahead) {
    self->ahead = false;
    self->ahead_read = true;
  } else {
    take_descriptor(self);
  }
}

// The next beat of the frame being sent, where it is not simply eight bytes of the queue: a VLAN tag, padding, FCS,
// underruns.
static __attribute__((noinline)) void make_beat(self_t *self) {
  int f = self->first;
  uint32_t extra = self->frame_vlan[f] ? 4 : 0;
  uint32_t whole = self->frame_length[f] + extra;
  uint32_t body = whole < (uint32_t)param(pad_to) ? (uint32_t)param(pad_to) : whole;
  uint32_t total = body + (param(add_fcs) ? 4 : 0);
  uint32_t count = assist_min(8, total - self->position);
  uint32_t wanted = self->position < body ? assist_min(count, body - self->position) : 0; // bytes before the FCS
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < wanted && !self->underrun;) {
    uint32_t at = self->position + i;
    uint32_t run = wanted - i;
    uint64_t part = 0;
    if (extra && at >= 12 && at < 16) {
      uint32_t tag_bytes = 0x81000000u | (self->frame_vlan[f] - 1);
      run = 1;
      part = (uint8_t)(tag_bytes >> 8 * (15 - at));
    } else {
      if (extra && at < 12) run = assist_min(run, 12 - at);
      if (at >= whole) break; // padding
      run = assist_min(run, whole - at);
      if (self->frame_got[f] - self->from_queue < run) {
        self->underrun = true;
        self->plain = 0;
        break;
      }
      part = assist_queue_peek(load_span(queue, 0, param(buffer)), param(buffer), self->head, run);
      self->head += run;
      self->from_queue += run;
    }
    bytes |= part << 8 * i;
    i += run;
  }
  if (self->underrun) {
    // The rest of the frame still arrives from memory; it is skipped when the frame ends.
    if (self->frame_got[f] == self->frame_length[f]) {
      self->beat = (wire_beat_64){.count = 1, .start = self->position == 0, .end = true, .error = true};
      self->offers |= transmit_offers_of_beat(true);
    }
  } else {
    self->fcs = ethernet_fcs(self->fcs, bytes, wanted);
    for (uint32_t i = wanted; i < count; i++)
      bytes |= (uint64_t)(uint8_t)(~self->fcs >> 8 * (self->position + i - body & 3)) << 8 * i;
    self->beat = (wire_beat_64){
        .bytes = bytes, .count = (uint8_t)count, .start = self->position == 0, .end = self->position + count == total};
    self->offers |= transmit_offers_of_beat(true);
    self->position += count;
  }
}

// Begins to send the oldest frame when enough of it has come.
static inline void begin(self_t *self) {
  if (!self->frames_waiting ||
      self->updates_waiting + self->updates_open >= param(most_updates) - (param(state_offset) >= 0 ? 3 : 2))
    return;
  const int f = self->first;
  if (self->frame_got[f] < assist_min((uint32_t)param(threshold), self->frame_length[f])) return;
  self->sending = true;
  self->underrun = false;
  self->position = self->from_queue = 0;
  self->plain = self->frame_vlan[f] ? 0 : self->frame_length[f];
  self->beat.error = false;
  self->fcs = ETHERNET_FCS_START;
}

static inline void next_beat(self_t *self) {
  const uint32_t after = self->position + 8;
  if (after > self->plain || after > self->frame_got[self->first]) {
    make_beat(self);
    return;
  }
  const uint64_t bytes = assist_queue_peek(load_span(queue, 0, param(buffer)), param(buffer), self->head, 8);
  self->fcs = ethernet_fcs(self->fcs, bytes, 8);
  self->beat.bytes = bytes;
  self->beat.count = 8;
  self->beat.start = self->position == 0;
  self->beat.end = !param(add_fcs) && after == self->plain && after >= (uint32_t)param(pad_to);
  self->offers |= transmit_offers_of_beat(true);
  self->head += 8;
  self->from_queue = self->position = after;
}

// The next request to memory: a descriptor, between bursts, or data when the queue has room for a burst, or a
// counter.
static inline void offer_request(self_t *self) {
  self->awaited = -1;
  const bool reads_descriptor = self->reading == transmit_stage_descriptor || (self->ahead && self->burst_left == 0);
  if (reads_descriptor && self->requested_bytes < (uint32_t)param(descriptor_size)) {
    self->offers |= SPLIT_DESCRIPTORS ? transmit_offers_of_descriptor(true) : transmit_offers_of_memory(true);
    self->offer_kind = assist_request_descriptor;
    self->offer_size = 8;
    self->offer_address = self->next_consumer + self->requested_bytes;
  } else if (self->reading == transmit_stage_data && self->memory_left) {
    if (self->burst_left == 0) {
      // Bursts end at multiples of the width, so that they never cut a piece in two.
      const uint32_t run = assist_min((uint32_t)param(burst) - (self->address & (UNIT - 1)), self->memory_left);
      const uint32_t most = (uint32_t)param(buffer) - 8 - run;
      if (self->tail - self->head + self->requested > most) {
        self->awaited = (int32_t)most;
        return;
      }
      self->burst_left = run;
    }
    self->offers |= transmit_offers_of_memory(true);
    self->offer_kind = assist_request_data;
    self->offer_size = (uint8_t)assist_piece(UNIT, self->address, self->memory_left, self->base, self->limit);
    self->offer_address = self->address;
  } else if (COUNTS_UNDERRUNS && self->underruns_pending) {
    // A request that moves no bytes of a frame.
    self->offers |= transmit_offers_of_memory(true);
    self->offer_kind = assist_request_counter;
    self->underruns_offered = self->underruns_pending;
    self->underruns_pending = 0;
  }
}

// ---- What the other sides did in a cycle -------------------------------------------------------------------------

// A register was written.
static inline void updated(self_t *self) {
  if (self->update_last[self->update_first]) self->taken--;
  self->update_first = (self->update_first + 1) & (param(most_updates) - 1);
  self->updates_open--;
}

// NIC memory replied with bytes of the newest frame.
static inline void data_arrived(self_t *self, assist_run reply) {
  const int newest = (self->first + self->frames_waiting - 1) & (param(most_frames) - 1);
  const uint32_t count = assist_piece(UNIT, self->reply_address, self->reply_left, self->base, self->limit);
  const assist_run bytes = assist_run_swap(reply, UNIT, count, param(big_endian));
  assist_run_put(store_span(queue, 0, param(buffer)), param(buffer), self->tail, UNIT, bytes, count);
  self->tail += count;
  self->requested -= count;
  self->frame_got[newest] += count;
  self->reply_address = assist_advance(self->reply_address, count, self->base, self->limit);
  self->reply_left -= count;
  if (self->reply_left == 0) self->reading = transmit_stage_nothing;
}

// NIC memory took what was offered.
static inline void memory_accepted(self_t *self) {
  self->offers = transmit_offers_set_memory(self->offers, false);
  if (self->offer_kind == assist_request_data) {
    const uint32_t count = self->offer_size;
    self->address = assist_advance(self->address, count, self->base, self->limit);
    self->memory_left -= count;
    self->burst_left -= assist_min(count, self->burst_left);
    self->requested += count;
    self->gap = self->burst_left == 0;
  } else if (self->offer_kind == assist_request_descriptor) {
    self->requested_bytes += 8;
  } else {
    self->gap = true;
  }
}

// The last beat of a frame left: it is counted, and the consumers move.
static inline void end_frame(self_t *self, uint32_t mac) {
  const int f = self->first;
  count(frames);
  count(bytes, self->frame_length[f]);
  count(underruns, self->underrun);
  event(sent, self->frame_address[f], self->frame_length[f]);
  if (COUNTS_UNDERRUNS) self->underruns_pending += self->underrun;
  if (self->underrun && param(state_offset) >= 0)
    update(self, param(state_offset), mac | (uint32_t)param(attention_bit), false);
  if (param(buffer_consumer_offset) >= 0) update(self, param(buffer_consumer_offset), self->frame_end[f], false);
  update(self, param(consumer_offset), self->frame_consumer[f], true);
  self->head += self->frame_length[f] - self->from_queue;
  self->first = (self->first + 1) & (param(most_frames) - 1);
  self->frames_waiting--;
  self->sending = false;
}

// ---- Reading -----------------------------------------------------------------------------------------------------

// Whether the descriptor of one more frame may be read: there is a place for it until its end is written.
static inline bool has_place(const self_t *self) {
  return self->taken < param(most_frames);
}

// Whether it may be read while the data of a frame are.
static inline bool may_read_ahead(const self_t *self) {
  return param(read_ahead) && self->reading == transmit_stage_data && !self->ahead && !self->ahead_read;
}

// Takes the descriptor that was read ahead, or begins to read the next one if the ring has one.
static inline void next_descriptor(self_t *self, bool ahead, uint32_t producer, uint32_t consumer) {
  if (self->ahead_read) {
    take_descriptor(self);
    self->ahead_read = false;
    return;
  }
  if (self->taken == 0) self->next_consumer = consumer;
  if (self->next_consumer == producer) return;
  self->ahead = ahead;
  if (!ahead) self->reading = transmit_stage_descriptor;
  self->requested_bytes = self->got_bytes = 0;
  self->taken++;
}

// Whether the data of the next frame have arrived in a buffer that is filled up to `producer`.  A producer up to 7
// bytes behind the frame's start is the end of the frame before it, which was not rounded up.
static inline bool data_are_there(const self_t *self, uint32_t producer, uint32_t base, uint32_t limit) {
  const uint32_t arrived = assist_distance(self->address, producer, base, limit);
  return arrived >= self->memory_left && arrived <= limit - base - (uint32_t)param(buffer_round);
}

// The next frame gets its place in the queue; its data are read.
static inline void begin_reading(self_t *self, uint32_t base, uint32_t limit) {
  const int newest = (self->first + self->frames_waiting) & (param(most_frames) - 1);
  const uint32_t length = self->memory_left, end = assist_advance(self->address, length, base, limit);
  self->next_consumer = assist_ring_next(self->next_consumer, param(descriptor_size), param(ring_size));
  self->base = base;
  self->limit = limit;
  self->frame_length[newest] = length;
  self->frame_got[newest] = 0;
  self->frame_address[newest] = self->address;
  self->frame_end[newest] = assist_round_up(end, param(buffer_round), base, limit);
  self->frame_consumer[newest] = self->next_consumer;
  self->frames_waiting++;
  self->pending_work = true;
  self->reply_address = self->address;
  self->reply_left = length;
  self->burst_left = 0;
  self->reading = length ? transmit_stage_data : transmit_stage_nothing;
  if (__builtin_expect((self->address & ((uint32_t)param(buffer_round) - 1)) != 0, false)) {
    if (!self->any_unaligned) self->first_unaligned = self->address;
    self->any_unaligned = true;
    count(unaligned);
  }
  event(begun, self->address, length);
}

// What to offer in the next cycle, and what may begin then.
static inline void make_offers(self_t *self) {
  if (self->gap) {
    self->gap = false;
    self->pending_work = true;
  } else if (!(self->offers & (transmit_offers_of_memory(true) | transmit_offers_of_descriptor(true)))) {
    offer_request(self);
  }
  const bool reads_nothing = self->reading == transmit_stage_nothing;
  self->pending_work |= self->reading == transmit_stage_wait || (reads_nothing && self->ahead_read);
  self->polls = (reads_nothing || may_read_ahead(self)) && has_place(self);
}

static __attribute__((noinline)) void lose_request(self_t *self, uint32_t address) {
  MEMORY_ERROR("a request to NIC memory failed: nothing responds near address 0x%08x", (unsigned)address);
}

phase_end() {
  const uint32_t mac = width(mac_state) ? data(mac_state) : (uint32_t)param(run_bits);
  const bool running =
      (mac & (uint32_t)param(run_bits)) == (uint32_t)param(run_bits) && !(mac & (uint32_t)param(stop_bits));

  // When nothing moved and nothing is to be begun, this cycle is like the last one.
  uint32_t work = 0;
  if (self->polls & running) work = (self->taken ? self->next_consumer : data(consumer)) ^ data(producer);
  bool control = transferred(registers_request) | transferred(registers_reply);
  if (SPLIT_DESCRIPTORS) control |= transferred(descriptor_memory_request) | transferred(descriptor_memory_reply);
  const bool moved = control | transferred(memory_request) | transferred(memory_reply) | transferred(wire);
  if (!(work | moved | self->pending_work)) return;
  bool reads = work | control | self->pending_work | transferred(memory_request) | transferred(memory_reply);
  self->pending_work = false;

  // What the other sides did in this cycle.
  if (control) {
    if (transferred(registers_request)) {
      self->updates_open++;
      if (--self->updates_waiting == 0) self->offers = transmit_offers_set_register(self->offers, false);
    }
    if (transferred(registers_reply)) updated(self);
    if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_request)) {
      self->offers = transmit_offers_set_descriptor(self->offers, false);
      self->requested_bytes += 8;
    }
    if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_reply)) fetched(self, data(descriptor_memory_reply).data);
  }
  if (transferred(memory_reply)) {
    if (__builtin_expect(data(memory_reply).error, false)) lose_request(self, self->reply_address);
    const assist_run reply = assist_run_of(&data(memory_reply).data, sizeof data(memory_reply).data);
    const uint32_t kind = data(memory_reply).tag - (uint32_t)param(tag);
    if (kind == assist_request_data)
      data_arrived(self, reply);
    else if (kind == assist_request_descriptor)
      fetched(self, reply.w[0]);
  }
  if (transferred(memory_request)) memory_accepted(self);

  // Sending: the beat that left, then the next one.
  if (transferred(wire)) {
    self->offers = transmit_offers_set_beat(self->offers, false);
    if (self->beat.end) {
      end_frame(self, mac);
      reads = true;
    }
  }
  if (!transmit_offers_beat(self->offers)) {
    if (!self->sending) begin(self);
    if (self->sending) next_beat(self);
  }

  // Reading: the next descriptor, then its data once they have arrived; a beat that left may have made room.
  if (!reads && (int32_t)(self->tail - self->head + self->requested) > self->awaited) return;
  if (self->reading == transmit_stage_nothing && self->ahead) {
    self->reading = transmit_stage_descriptor;
    self->ahead = false;
  }
  const bool ahead = may_read_ahead(self);
  if ((self->reading == transmit_stage_nothing || ahead) && running && has_place(self))
    next_descriptor(self, ahead, data(producer), data(consumer));
  if (self->reading == transmit_stage_wait) {
    const uint32_t base = width(buffer_base) ? data(buffer_base) : 0,
                   limit = width(buffer_limit) ? data(buffer_limit) : 0;
    if (!width(buffer_producer) || data_are_there(self, data(buffer_producer), base, limit))
      begin_reading(self, base, limit);
  }
  make_offers(self);
}

init() {
  MEMORY_ERROR_CHOOSE();
  self->pending_work = true;
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

finish() {
  const unsigned long long unaligned = counted(unaligned);
  if (unaligned)
    sim_warn("%llu frame%s did not begin at a multiple of %d bytes, the first at 0x%08x: such a device may send other "
             "bytes",
             unaligned, unaligned == 1 ? "" : "s", (int)param(buffer_round), self->first_unaligned);
}

next_event() {
  return self->offers || self->reading || self->frames_waiting || self->sending || self->updates_open ? cycle()
                                                                                                      : never();
}
