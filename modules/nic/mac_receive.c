// mac_receive.c: frames from the wire to NIC memory; see mac_receive.lss.
//
// Arriving beats enter a byte queue; the oldest frame in it is stored while it may still be arriving, and its
// descriptor is written only once it is known to be good.  All outputs are offered from state: no combinational path.
#include "nic/mac_receive.h"
#include "memory/memory_error.h"
#include "nic/assist_memory.h"
#include "wire/ethernet_fcs.h"
#include "wire/vlan_tag.h"

#define MOST_TAGGED       ((uint32_t)(param(max_frame) + param(vlan_tag)))
#define SPLIT_DESCRIPTORS (width(descriptor_memory_request) > 0)
#define UNIT              ((uint32_t)param(width) / 8)
#define OFFERING          ((self->offers & (receive_offers_of_memory(true) | receive_offers_of_descriptor(true))) != 0)

check_state() {
  const bool counts = receive_offers_counter(self->offers) || self->counter_phase != receive_count_none;
  if (counts && self->counter_index < 0) sim_error("a counter is added to, and it is none of the list");
}

handler(send_ready, i) {
  send(ready, i, self->has_room);
}

handler(send_dropped, i) {
  send(dropped, i, self->dropped_count);
}

handler(send_ignored, i) {
  send(ignored, i, self->ignored_count);
}

phase_start() {
  const receive_offers offers = self->offers;
  if (__builtin_expect(!offers, 1)) {
    send_nothing(memory_request);
    if (SPLIT_DESCRIPTORS) send_nothing(descriptor_memory_request);
    send_nothing(registers_request);
    return;
  }
  const uint32_t tag = (uint32_t)param(tag) + self->offer_kind;
  if (receive_offers_counter(offers)) {
    typeof_port(memory_request)
        add = {.op = mem_op_fetch_add, .size = 4, .tag = (uint32_t)param(tag) + assist_request_descriptor};
    for (int k = 0; k < param_length(counters); k++)
      if (k == self->counter_index) add.address = param(counters)[k].address;
    assist_run_into(&add.data, sizeof add.data, (assist_run){{self->counter_pending[self->counter_index], 0}});
    send(memory_request, add);
  } else if (receive_offers_memory(offers)) {
    typeof_port(memory_request) writes = {.op = mem_op_write,
                                          .size = self->offer_bytes,
                                          .tag = tag,
                                          .address = self->offer_address,
                                          .data = self->offer_data};
    send(memory_request, writes);
  } else {
    send_nothing(memory_request);
  }
  if (SPLIT_DESCRIPTORS) {
    typeof_port(descriptor_memory_request)
        writes = {.op = mem_op_write, .size = self->offer_bytes, .tag = tag, .address = self->offer_address};
    memcpy(&writes.data, &self->offer_data, sizeof writes.data);
    send_if(descriptor_memory_request, receive_offers_descriptor(offers), writes);
  }
  if (receive_offers_register(offers)) {
    typeof_port(registers_request)
        writes = {.op = mem_op_write, .size = 4, .address = self->update.offset, .data = self->update.value};
    send(registers_request, writes);
  } else {
    send_nothing(registers_request);
  }
}

// One more frame with this outcome: for statistics, and for the words in NIC memory.
static void count_frame(self_t *self, int outcome, uint32_t length, bool queued) {
  for (int k = 0; k < param_length(counters); k++) {
    if ((int)param(counters)[k].outcome != outcome) continue;
    self->counter_pending[k]++;
    self->any_counter_pending = true;
  }
  if (outcome <= receive_outcome_kept_broadcast) return;
  count(damaged, outcome >= receive_outcome_bad_fcs && outcome <= receive_outcome_line_error);
  count(bad_fcs, outcome == receive_outcome_bad_fcs);
  count(too_short, outcome == receive_outcome_too_short);
  count(too_long, outcome == receive_outcome_too_long);
  count(line_errors, outcome == receive_outcome_line_error);
  count(overruns, outcome == receive_outcome_overrun);
  self->attention |= outcome == receive_outcome_overrun && param(state_offset) >= 0;
  count(filtered, outcome >= receive_outcome_other_station);
  count(frames_dropped);
  self->dropped_count++;
  self->pending_work |= receive_pending_of_shown(true);
  event(drop, length, (receive_outcome)outcome, queued);
}

// The next counter in NIC memory to be updated, -1: none now. Kept frames wait for a pause.
static int counter_due(const self_t *self) {
  for (int k = 0; k < param_length(counters); k++) {
    if (self->counter_pending[k] == 0) continue;
    bool kept = param(counters)[k].outcome <= receive_outcome_kept_broadcast;
    if (!kept || !(self->arriving || self->frames_waiting) || self->counter_pending[k] >= RECEIVE_KEPT_THRESHOLD)
      return k;
  }
  return -1;
}

// With fewer bytes than fits_below in the queue one more frame surely fits.  To be called when the free space in memory
// or the number of frames in the queue changes.
static void find_room(self_t *self) {
  if (!width(ready)) return;
  const uint32_t waiting = (uint32_t)self->frames_waiting, others = 8 * waiting + 3 * MOST_TAGGED;
  const uint32_t in_memory = self->free_bytes >= others ? self->free_bytes - others + 1 : 0;
  const bool counted = self->free_slots > waiting + 1 && waiting + 2 < (uint32_t)param(most_frames);
  self->fits_below = counted ? assist_min(in_memory, (uint32_t)param(buffer) - 2 * MOST_TAGGED + 1) : 0;
}

// Offers a write of `count` bytes.
static inline void offer(self_t *self, assist_request kind, uint32_t count, uint32_t address, assist_run bytes) {
  self->offers |= kind == assist_request_descriptor && SPLIT_DESCRIPTORS ? receive_offers_of_descriptor(true)
                                                                         : receive_offers_of_memory(true);
  self->offer_kind = kind;
  self->offer_bytes = (uint8_t)count;
  self->offer_address = address;
  assist_run_into(&self->offer_data, sizeof self->offer_data, bytes);
}

// ---- The wire's side: the address filter, and a queue of frames --------------------------------------------------

// What becomes of a frame with these first bytes if nothing else is wrong with it.
static inline receive_outcome filter(const self_t *self, uint64_t first_bytes, receive_filter accepts) {
  const uint64_t to = assist_keep(first_bytes, 6);
  const bool group = to & 1;
  if (to == UINT64_C(0xffffffffffff)) return receive_outcome_kept_broadcast;
  if (!accepts.on) return group ? receive_outcome_kept_multicast : receive_outcome_kept_unicast;
  if (!group)
    return __builtin_bswap64(to << 16) == accepts.station ? receive_outcome_kept_unicast
                                                          : receive_outcome_other_station;
  const uint32_t bit = call(group_bit, to, ~ethernet_fcs(ETHERNET_FCS_START, to, 6));
  const bool passes = bit / 32 < accepts.words && (accepts.groups[bit / 32] >> bit % 32 & 1);
  return passes ? receive_outcome_kept_multicast : receive_outcome_other_group;
}

// A frame begins: it gets a place in the queue, or is skipped.
static inline void begin_frame(self_t *self, uint64_t first_bytes, receive_filter accepts) {
  self->arriving = true;
  self->skipping = false;
  if (!self->running) {
    self->skipping = true;
    count(ignored);
    self->ignored_count++;
    self->pending_work |= receive_pending_of_shown(true);
    return;
  }
  if (self->frames_waiting == param(most_frames)) {
    self->skipping = true;
    count_frame(self, receive_outcome_overrun, 0, false);
    return;
  }
  self->newest = (self->first + self->frames_waiting) & (param(most_frames) - 1);
  self->frames_waiting++;
  find_room(self);
  self->frame_bytes[self->newest] = 0;
  self->frame_state[self->newest] = receive_arrival_arriving;
  self->fcs = ETHERNET_FCS_START;
  self->addressed = filter(self, first_bytes, accepts);
  event(begun);
}

// The newest frame is known to be bad; what else comes of it is skipped.
static inline void discard_frame(self_t *self, receive_outcome outcome) {
  self->frame_state[self->newest] = receive_arrival_bad;
  self->frame_outcome[self->newest] = outcome;
  self->skipping = true;
}

// The newest frame has come to its end.
static inline void end_frame(self_t *self, bool line_error) {
  const int newest = self->newest;
  receive_outcome outcome = self->addressed;
  if (self->fcs != ETHERNET_FCS_RESIDUE) outcome = receive_outcome_bad_fcs;
  if (self->frame_bytes[newest] < (uint32_t)param(min_frame)) outcome = receive_outcome_too_short;
  if (line_error) outcome = receive_outcome_line_error;
  self->frame_outcome[newest] = outcome;
  self->frame_state[newest] = outcome <= receive_outcome_kept_broadcast ? receive_arrival_good : receive_arrival_bad;
}

// The most bytes that the newest frame may have, which is about to have more than max_frame.  The queue still holds its
// type, wherever the store engine is: it is larger than two frames.
static uint32_t longest_of_newest(const self_t *self) {
  const uint32_t at = self->tail - self->frame_bytes[self->newest] + VLAN_TYPE_AT, mask = (uint32_t)param(buffer) - 1;
  const uint32_t type = (uint32_t)load(queue, at & mask) << 8 | load(queue, (at + 1) & mask);
  return vlan_is_tag(type) ? MOST_TAGGED : (uint32_t)param(max_frame);
}

// The bytes of a beat enter the queue.
static inline void queue_beat(self_t *self, wire_beat_64 beat) {
  const int newest = self->newest;
  if (self->tail - self->head + beat.count > (uint32_t)param(buffer)) {
    discard_frame(self, receive_outcome_overrun);
  } else if (self->frame_bytes[newest] + beat.count > (uint32_t)param(max_frame) &&
             self->frame_bytes[newest] + beat.count > longest_of_newest(self)) {
    discard_frame(self, receive_outcome_too_long);
  } else {
    assist_queue_put(store_span(queue, 0, param(buffer)), param(buffer), self->tail, beat.bytes, beat.count);
    self->tail += beat.count;
    self->frame_bytes[newest] += beat.count;
    self->fcs = ethernet_fcs(self->fcs, beat.bytes, beat.count);
    if (beat.end) end_frame(self, beat.error);
  }
}

// ---- What the registers say, and how much room the pointers leave ------------------------------------------------

// Notes what the state register says; whether reception was turned on or off.
static inline bool observe_state(self_t *self, uint32_t mac) {
  const bool was_running = self->running;
  self->seen_mac = mac;
  self->running = (mac & (uint32_t)param(run_bits)) == (uint32_t)param(run_bits) && !(mac & (uint32_t)param(stop_bits));
  return self->running != was_running;
}

// Not zero when a pointer differs from what was seen last.
static inline uint32_t pointers_differ(const self_t *self, receive_registers at) {
  return (at.producer ^ self->seen_producer) | (at.reference ^ self->seen_reference) |
         (at.buffer_producer ^ self->seen_buffer_producer) | (at.buffer_reference ^ self->seen_buffer_reference) |
         (at.base ^ self->seen_base) | (at.limit ^ self->seen_limit);
}

// Notes what the pointers say, and how much room they leave in the buffer and in the ring.
static inline void observe_pointers(self_t *self, receive_registers at) {
  self->seen_producer = at.producer;
  self->seen_reference = at.reference;
  self->seen_buffer_producer = at.buffer_producer;
  self->seen_buffer_reference = at.buffer_reference;
  self->seen_base = at.base;
  self->seen_limit = at.limit;
  const uint32_t mask = (uint32_t)param(pointer_mask), span = at.limit - at.base;
  uint32_t to = at.buffer_reference - 8;
  if (at.buffer_reference < at.base + 8) to += span;
  self->free_bytes = assist_distance(at.buffer_producer, to, at.base, at.limit);
  self->free_slots = ((at.reference & mask) - (at.producer & mask) - (uint32_t)param(descriptor_size)) &
                     (uint32_t)(param(ring_size) - 1);
  self->free_slots /= (uint32_t)param(descriptor_size);
  if (!self->running || self->free_bytes > span) self->free_slots = 0;
  find_room(self);
}

// Whether one more frame surely fits is sent in the next cycle.
static inline void update_ready(self_t *self) {
  const bool has_room = self->tail - self->head < self->fits_below;
  if (has_room != self->has_room) self->pending_work |= receive_pending_of_shown(true);
  self->has_room = has_room;
  self->pending_work = receive_pending_set_queue(self->pending_work, false);
}

// ---- Counters in NIC memory --------------------------------------------------------------------------------------

// Memory took the addition to a counter.
static inline void counter_added(self_t *self, uint32_t added) {
  self->counter_phase = receive_count_accepted;
  self->offers = receive_offers_set_counter(self->offers, false);
  self->counter_pending[self->counter_index] -= added;
  self->any_counter_pending = false;
  for (int k = 0; k < param_length(counters); k++) self->any_counter_pending |= self->counter_pending[k] != 0;
}

// Between frames, when nothing is in progress, a counter is updated; whether one is.
static inline bool update_counter(self_t *self) {
  if (__builtin_expect(self->storing != receive_stage_nothing, 1) || !self->any_counter_pending || self->updates_open ||
      receive_offers_register(self->offers))
    return false;
  self->counter_index = counter_due(self);
  if (self->counter_index < 0) return false;
  self->counter_phase = receive_count_offered;
  self->offers |= receive_offers_of_counter(true);
  return true;
}

// ---- Storing the oldest frame ------------------------------------------------------------------------------------

// Memory took what was offered of a frame.
static inline void memory_accepted(self_t *self) {
  self->offers = receive_offers_set_memory(self->offers, false);
  self->open++;
  if (self->storing != receive_stage_data) {
    self->step++;
    return;
  }
  self->address = assist_advance(self->address, self->offer_bytes, self->base, self->limit);
  self->head += self->offer_bytes;
  self->pending_work |= receive_pending_of_queue(true);
  self->stored += self->offer_bytes;
  self->burst_left -= self->offer_bytes;
  self->gap = self->burst_left == 0;
}

// The oldest frame gets its place: where the pointers are now.
static inline void begin_storing(self_t *self, receive_registers at) {
  const uint32_t mask = (uint32_t)param(pointer_mask);
  self->base = at.base;
  self->limit = at.limit;
  self->start = self->address = at.buffer_producer;
  self->slot = at.producer & mask;
  const uint32_t to = at.buffer_reference;
  self->room = to == self->start ? at.limit - at.base : assist_distance(self->start, to, at.base, at.limit);
  self->room = self->room >= 8 ? self->room - 8 : 0;
  self->stored = self->burst_left = 0;
  self->step = 0;
  self->storing = receive_stage_data;
  const uint32_t after = assist_ring_next(self->slot, param(descriptor_size), param(ring_size));
  self->lost = after == (at.reference & mask) ? receive_space_no_descriptor : receive_space_enough;
}

// The oldest frame leaves the queue.
static inline void dequeue_frame(self_t *self) {
  self->first = (self->first + 1) & (param(most_frames) - 1);
  self->frames_waiting--;
  find_room(self);
  self->storing = receive_stage_nothing;
  self->pending_work |= receive_pending_of_storing(true);
}

// A frame that is lost leaves the queue when it has arrived; what was stored of it will be overwritten.
static inline void drop_oldest(self_t *self) {
  const int f = self->first;
  const uint32_t length = self->frame_bytes[f];
  const bool good = self->frame_state[f] == receive_arrival_good;
  if (self->frame_state[f] == receive_arrival_arriving ||
      (self->arriving && self->skipping && self->frames_waiting == 1))
    return;
  self->head += length - self->stored;
  self->pending_work |= receive_pending_of_queue(true);
  self->stored = length;
  if (self->open) return;
  count(no_descriptor, good && self->lost == receive_space_no_descriptor);
  count(no_room, good && self->lost == receive_space_no_room);
  count_frame(self, good ? receive_outcome_no_space : self->frame_outcome[f], length, true);
  dequeue_frame(self);
}

// All of the oldest frame is written: where the next one starts is known.
static inline void end_data(self_t *self) {
  const uint32_t kept = self->frame_bytes[self->first] - (param(keep_fcs) ? 0 : 4);
  const uint32_t end = assist_advance(self->start, kept, self->base, self->limit);
  self->next_start = assist_round_up(end, param(buffer_round), self->base, self->limit);
  self->storing = receive_stage_descriptor;
}

// The store engine: the next bytes of the oldest frame, in bursts.
static inline void store_data(self_t *self) {
  const uint32_t length = self->frame_bytes[self->first], left = length - self->stored;
  const receive_arrival arrived = self->frame_state[self->first];
  const bool gap = self->gap;
  self->gap = false;
  if (gap) self->pending_work |= receive_pending_of_storing(true);
  if (__builtin_expect(length > self->room, 0) && !self->lost) self->lost = receive_space_no_room;
  if (__builtin_expect(arrived == receive_arrival_bad || self->lost, 0)) {
    drop_oldest(self);
  } else if (left == 0) {
    if (arrived == receive_arrival_good && self->open == 0) end_data(self);
  } else if (!gap) {
    const uint32_t run = (uint32_t)param(burst);
    if (self->burst_left == 0 && (left >= run || arrived == receive_arrival_good))
      self->burst_left = assist_min(run, left);
    if (!self->burst_left) return;
    const uint32_t count =
        assist_min(assist_piece(UNIT, self->address, left, self->base, self->limit), self->burst_left);
    const assist_run bytes =
        assist_run_peek(load_span(queue, 0, param(buffer)), param(buffer), self->head, UNIT, count);
    offer(self, assist_request_data, count, self->address, assist_run_swap(bytes, UNIT, count, param(big_endian)));
  }
}

// The descriptor writer: address and length of the frame, then where the next one starts.
static inline void write_descriptor(self_t *self) {
  const uint32_t length = self->frame_bytes[self->first] - (param(keep_fcs) ? 0 : 4);
  const uint32_t after = assist_ring_next(self->slot, param(descriptor_size), param(ring_size));
  if (self->step == 0) {
    const uint64_t number =
        param(big_endian) ? (uint64_t)self->start << 32 | length : (uint64_t)length << 32 | self->start;
    offer(self, assist_request_descriptor, 8, self->slot + (uint32_t)param(at_address), (assist_run){{number, 0}});
  } else if (self->step == 1) {
    offer(self, assist_request_descriptor, 4, after + (uint32_t)param(at_address), (assist_run){{self->next_start, 0}});
  } else if (self->open == 0) {
    self->storing = receive_stage_registers;
    self->step = 0;
  }
}

// Then the producers are moved, and the frame is done with.
static inline void move_producers(self_t *self) {
  if (self->step < 2) {
    const uint32_t after = assist_ring_next(self->slot, param(descriptor_size), param(ring_size));
    self->update.offset = (uint32_t)(self->step == 0 ? param(buffer_producer_offset) : param(producer_offset));
    self->update.value = self->step == 0 ? self->next_start : after;
    self->offers |= receive_offers_of_register(true);
  } else if (self->updates_open == 0) {
    const uint32_t length = self->frame_bytes[self->first];
    count(frames);
    count(bytes, length);
    event(received, self->start, length);
    count_frame(self, self->frame_outcome[self->first], length, true);
    dequeue_frame(self);
    self->pending_work |= receive_pending_of_queue(true);
  }
}

// The state register gets its attention bit: a frame was lost because memory was too slow.
static inline void raise_attention(self_t *self, uint32_t mac) {
  self->attention = false;
  self->offers |= receive_offers_of_register(true);
  self->update =
      (register_update){.offset = (uint32_t)param(state_offset), .value = mac | (uint32_t)param(attention_bit)};
}

// The oldest frame, one step on.
static inline void store_oldest(self_t *self, receive_registers at) {
  if (__builtin_expect(self->storing == receive_stage_nothing, 0) && !receive_offers_register(self->offers)) {
    if (__builtin_expect(self->attention, 0))
      raise_attention(self, at.mac);
    else if (self->frames_waiting)
      begin_storing(self, at);
  }
  if (self->storing == receive_stage_data && !OFFERING) store_data(self);
  if (self->storing == receive_stage_descriptor && !OFFERING) write_descriptor(self);
  if (self->storing == receive_stage_registers && !receive_offers_register(self->offers)) move_producers(self);
}

static __attribute__((noinline)) void lose_request(self_t *self, uint32_t address) {
  MEMORY_ERROR("a request to NIC memory failed: nothing responds near address 0x%08x", (unsigned)address);
}

phase_end() {
  const receive_registers at = {.mac = width(mac_state) ? data(mac_state) : (uint32_t)param(run_bits),
                                .producer = data(producer),
                                .reference = data(reference),
                                .buffer_producer = data(buffer_producer),
                                .buffer_reference = data(buffer_reference),
                                .base = data(buffer_base),
                                .limit = width(buffer_limit) ? data(buffer_limit) : (uint32_t)param(buffer_end)};

  // When nothing came, moved or is pending, and no pointer differs, this cycle is like the last one.
  uint32_t pointed = width(ready) ? pointers_differ(self, at) : 0;
  const bool beat_came = some(wire);
  bool control = transferred(registers_request) | transferred(registers_reply);
  if (SPLIT_DESCRIPTORS) control |= transferred(descriptor_memory_request) | transferred(descriptor_memory_reply);
  const bool moved = control | beat_came | transferred(memory_request) | transferred(memory_reply);
  if (!(pointed | (at.mac ^ self->seen_mac) | moved | self->pending_work)) return;

  if (__builtin_expect((at.mac ^ self->seen_mac) | receive_pending_start(self->pending_work), 0))
    pointed |= observe_state(self, at.mac);
  self->pending_work = receive_pending_set_start(receive_pending_set_shown(self->pending_work, false), false);

  if (__builtin_expect(beat_came, 0)) {
    const wire_beat_64 beat = data(wire);
    if (beat.start) {
      uint32_t groups[width(groups) + 1];
      for (int i = 0; i < width(groups); i++) groups[i] = data(groups, i);
      receive_filter accepts = {
          .on = (at.mac & (uint32_t)param(filter_bits)) != 0, .groups = groups, .words = width(groups)};
      if (param(filter_bits))
        accepts.station =
            (uint64_t)(data(station, param(station_high)) & 0xffff) << 32 | data(station, param(station_low));
      begin_frame(self, beat.bytes, accepts);
    }
    if (self->arriving && !self->skipping) queue_beat(self, beat);
    if (beat.end) self->arriving = false;
  }
  if (width(ready)) {
    if (__builtin_expect(pointed, 0)) observe_pointers(self, at);
    if (beat_came | pointed | receive_pending_queue(self->pending_work)) update_ready(self);
  }
  if (!(moved | receive_pending_storing(self->pending_work))) return;
  self->pending_work = receive_pending_set_storing(self->pending_work, false);

  // What memory and registers did in this cycle: first for a counter, between frames, then for the oldest frame.
  if (param_length(counters) > 0 && __builtin_expect(self->counter_phase, 0)) {
    if (self->counter_phase == receive_count_offered && transferred(memory_request))
      counter_added(self, (uint32_t)assist_run_of(&data(memory_request).data, sizeof data(memory_request).data).w[0]);
    if (self->counter_phase == receive_count_accepted && transferred(memory_reply)) { // perhaps in the same cycle
      self->counter_phase = receive_count_none;
      self->pending_work |= receive_pending_of_storing(true);
    }
    return;
  }
  if (transferred(memory_reply)) {
    if (__builtin_expect(data(memory_reply).error, false)) lose_request(self, self->address);
    self->open--;
  }
  if (transferred(memory_request)) memory_accepted(self);
  if (control) {
    if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_reply)) self->open--;
    if (SPLIT_DESCRIPTORS && transferred(descriptor_memory_request)) {
      self->offers = receive_offers_set_descriptor(self->offers, false);
      self->open++;
      self->step++;
    }
    if (transferred(registers_request)) {
      self->offers = receive_offers_set_register(self->offers, false);
      self->updates_open++;
      self->step++;
    }
    if (self->updates_open && transferred(registers_reply)) self->updates_open--;
  }

  if (param_length(counters) > 0 && update_counter(self)) return;
  store_oldest(self, at);
  // With no frame in the queue the next beat is what changes it.
  if (!self->frames_waiting) self->pending_work = receive_pending_set_queue(self->pending_work, false);
}

init() {
  MEMORY_ERROR_CHOOSE();
  self->pending_work = receive_pending_of_start(true);
}

handler(reset, on_memory_error) {
  MEMORY_ERROR_CHOOSE();
}

awaits() {
  if (self->has_room || !width(ready)) return;
  if (!self->running)
    waits_for(mac_state, 0, "receiving is off: the register has 0x%08x", self->seen_mac);
  else if (self->free_slots <= (uint32_t)self->frames_waiting + 1)
    waits_for(reference, 0, "the ring has no free descriptor: its producer, 0x%08x, is next to its reference, 0x%08x",
              self->seen_producer, self->seen_reference);
  else if (!self->fits_below)
    waits_for(buffer_reference, 0,
              "the buffer has no room for a frame: its producer, 0x%08x, is next to its reference, 0x%08x",
              self->seen_buffer_producer, self->seen_buffer_reference);
}

next_event() {
  const bool at_work = self->frames_waiting || self->arriving || self->counter_phase || self->any_counter_pending ||
                       self->attention || self->offers || self->updates_open;
  return at_work || receive_pending_shown(self->pending_work) ? cycle() : never();
}
