// ethernet.c: a link with byte-accurate time and the station at its far end; see ethernet.lss.
#include <string.h>

#include "generic/fault_plan.h"
#include "wire/ethernet.h"
#include "wire/ethernet_line.h"
#include "wire/ethernet_transmitter.h"
#include "wire/traffic_source.h"
#include "wire/vlan_tag.h"

#define MOST_TAGGED (uint32_t)(param(max_frame) + param(vlan_tag))

// What is sent follows from `begun`, `loaded` and `exhausted`.  An end without more frames does not make the other
// wait.
static void update_outputs(self_t *self) {
  bool finished = self->exhausted && !self->loaded;
  uint32_t turn = finished ? UINT32_MAX : (uint32_t)self->begun;
  if (turn != self->turn || finished != self->finished) self->changed_cycle = cycle() + 1;
  self->turn = turn;
  self->finished = finished;
  self->awaits_index = self->traffic == traffic_mode_correlated && self->linked && !self->loaded && !self->exhausted;
}

// Whether there is anything to play, and so whether more can follow.
static void choose_traffic(self_t *self) {
  const bool in_turns = self->traffic == traffic_mode_fast, generated = !param(input)[0];
  self->exhausted = (generated && param(payload) == 0) || (in_turns && param(ratio_in) == 0);
  if (!self->loaded && !self->line.playing) self->line.wake = self->exhausted ? never() : 0;
  update_outputs(self);
}

init() {
  self->byte_time = ethernet_time_of_byte((double)param(rate), ticks_per_second());
  if (param(offered) <= 0) sim_input_error("the offered rate must be more than 0");
  TRAFFIC_CHOOSE_MODE();
  FAULT_PLAN_REQUIRE(ethernet_faults, ETHERNET_FAULTS, "fcs, short, fragment, long, jabber and error");
  if (param(faults)[0] && (param(short_length) < 8 || param(short_length) >= param(min_frame)))
    sim_input_error("short frames have 8 to %d bytes, not %lld", param(min_frame) - 1, (long long)param(short_length));
  if (param(faults)[0] && (param(long_length) <= MOST_TAGGED || param(long_length) > ETHERNET_LONGEST))
    sim_input_error("long frames have %d to %d bytes, not %lld", (int)MOST_TAGGED + 1, ETHERNET_LONGEST,
                    (long long)param(long_length));
  random_seed(&self->rng);
  bool file = param(input)[0] != 0;
  if (file) packet_read_open(&self->source, param(input));
  if (param(output)[0]) packet_write_open(&self->sink, param(output));
  if (self->traffic == traffic_mode_correlated && (!width(next) || (!file && param(payload))))
    sim_input_error("mode correlated needs a packet file and, at port `next`, who says which frame is next");
  self->line.beat_cycle = self->taken_cycle = self->line.plain_at = never();
  self->incoming.opens_at = 1;
  choose_traffic(self);
}

handler(reset, payload) {
  choose_traffic(self);
}
handler(reset, count) {
  choose_traffic(self);
}
handler(reset, ratio_in) {
  choose_traffic(self);
}

check_state() {
  if (!line_is_sound(&self->line))
    sim_error("%u bytes of a frame of %u were played", (unsigned)self->line.position, (unsigned)self->line.length);
}

phase_start() {
  if (__builtin_expect(is_cycle(self->line.beat_cycle), false)) {
    wire_beat_64 seen = self->line.beat;
    if (__builtin_expect(self->faulty_end, false)) seen.error = true;
    send(to_device, self->line.beat);
    for (int i = 0; i < width(offered_beats); i++) send(offered_beats, i, seen);
  } else {
    const bool plays = due(self->line.plain_at);
    const wire_beat_64 plain = line_plain_beat(&self->line, load_span(frame, self->line.position, 8));
    send_if(to_device, plays, plain);
    for (int i = 0; i < width(offered_beats); i++) send_if(offered_beats, i, plays, plain);
  }
  for (int i = 0; i < width(taken_beats); i++) {
    if (__builtin_expect(is_cycle(self->taken_cycle), false))
      send(taken_beats, i, self->taken);
    else
      send_nothing(taken_beats, i);
  }
}

handler(pace) {
  accept(from_device, due(self->incoming.opens_at));
}

handler(accept_index) {
  for (int i = 0; i < width(next); i++) accept(next, i, self->awaits_index);
}

handler(send_turn) {
  for (int i = 0; i < width(own_count); i++) send(own_count, i, self->turn);
}

handler(send_end) {
  for (int i = 0; i < width(done); i++) send(done, i, self->finished);
}

// Gives the loaded frame the length of its fault, and counts it; returns its new length without FCS.
static uint32_t apply_fault(self_t *self, uint32_t length) {
  switch (self->fault) {
  case ETHERNET_FAULT_FCS: count(faulty_fcs); return length;
  case ETHERNET_FAULT_SHORT: count(faulty_short); return (uint32_t)param(short_length) - 4;
  case ETHERNET_FAULT_FRAGMENT: count(faulty_fragment); return (uint32_t)param(short_length) - 4;
  case ETHERNET_FAULT_ERROR: count(faulty_error); return length;
  case ETHERNET_FAULT_LONG: count(faulty_long); break;
  default: count(faulty_jabber); break;
  }
  uint32_t extended = (uint32_t)param(long_length) - 4;
  for (uint32_t i = length; i < extended; i++) store(frame, i, (uint8_t)i);
  return extended;
}

// Gets the next frame, its length into `length`; false when there is none.
static bool next_frame(self_t *self, uint32_t next_index, uint32_t *length) {
  const uint32_t longest = (uint32_t)(param(max_frame) - 4), most = (uint32_t)(MOST_TAGGED - 4);
  if (param(count) != 0 && self->begun >= (uint64_t)param(count)) return false;
  if (self->traffic == traffic_mode_correlated) {
    if (next_index == TRAFFIC_NO_MORE) return false;
    packet_at(&self->source, next_index, store_span(frame, 0, most), most, length, &self->stamp);
    VLAN_REQUIRE_LENGTH(param(input), (uint64_t)next_index + 1, load_span(frame, 0, most), *length, longest,
                        (uint32_t)param(vlan_tag));
  } else if (param(input)[0]) {
    uint64_t stamp = 0;
    if (!packet_next(&self->source, store_span(frame, 0, most), most, length, &stamp)) return false;
    VLAN_REQUIRE_LENGTH(param(input), self->begun + 1, load_span(frame, 0, most), *length, longest,
                        (uint32_t)param(vlan_tag));
    TRAFFIC_TAKE_STAMP(self->begun + 1, stamp);
  } else {
    *length = udp_frame(store_span(frame, 0, most), 1, self->begun, (uint32_t)param(payload), (uint64_t)param(seed));
  }
  TRAFFIC_REQUIRE_HEADER(self->begun + 1, *length);
  return true;
}

// Loads the next frame with padding and FCS, and works out when it may be played at the earliest.
__attribute__((noinline)) static void load_frame(self_t *self, uint32_t next_index) {
  uint32_t length = 0;
  self->loaded = next_frame(self, next_index, &length);
  self->exhausted = !self->loaded;
  if (self->exhausted) {
    self->line.wake = never();
    return;
  }
  uint32_t padded = length + 4 < (uint32_t)param(min_frame) ? (uint32_t)param(min_frame) - 4 : length;
  memset(store_span(frame, length, padded - length), 0, padded - length);
  self->fault = param(faults)[0] ? FAULT_STRIKES(param(faults), ethernet_faults, ETHERNET_FAULTS, 0, ETHERNET_FAULTS,
                                                 self->begun + 1, random_bits(&self->rng))
                                 : -1;
  if (__builtin_expect(self->fault >= 0, 0)) padded = apply_fault(self, padded);
  uint32_t fcs = ~ethernet_fcs_of(load_span(frame, 0, padded), padded);
  if (ethernet_fault_in_fcs(self->fault)) fcs ^= 1;
  memcpy(store_span(frame, padded, 4), &fcs, 4);
  self->plain_length = length;
  self->line.length = padded + 4;
  memset(store_span(frame, self->line.length, 8), 0, 8);

  exact_time from = {0};
  if (self->traffic == traffic_mode_rate) from = self->earliest;
  if (self->traffic == traffic_mode_timed)
    from = exact_time_sum(exact_time_at(self->linked_at), exact_time_of(self->stamp, 1000000000, ticks_per_second()));
  self->line.due = from;
  self->line.wake = line_begins_at(&self->line, from, clock_period());
  // Its turn comes with the other end's: begun / ratio_in <= other / ratio_out, without dividing in every cycle.
  bool in_step = self->traffic == traffic_mode_fast && width(other_count) && param(ratio_out) > 0;
  self->other_needed = in_step ? self->begun / (uint64_t)param(ratio_in) * (uint64_t)param(ratio_out) : 0;
}

// The preamble of the loaded frame begins.
static void begin(self_t *self) {
  exact_time start = exact_time_later(self->line.line_free, exact_time_at(now()));
  if (self->traffic == traffic_mode_fast || self->traffic == traffic_mode_correlated) {
    // The line's own pace is kept when the device was ready all the time.
    if (now() < exact_time_instant(self->line.line_free) + clock_period())
      start = exact_time_before(exact_time_at(self->linked_at), self->line.line_free) ? self->line.line_free
                                                                                      : exact_time_at(now());
  } else {
    start = exact_time_later(self->line.due, self->line.line_free);
    if (self->traffic == traffic_mode_rate)
      self->earliest = exact_time_add(self->earliest, LINE_BYTES(self->line.length),
                                      ethernet_time_of_byte((double)param(offered), ticks_per_second()));
  }
  self->begun++;
  event(playing, self->line.length);
  line_begin(&self->line, exact_time_add(start, (uint64_t)param(preamble), self->byte_time), self->byte_time,
             clock_period());
}

// Offers the last beat, which has arrived.
static void play_last(self_t *self) {
  line_play_last(&self->line, load_span(frame, self->line.position, 8), self->fault == ETHERNET_FAULT_ERROR,
                 cycle() + 1, (uint64_t)param(gap), self->byte_time);
  self->faulty_end = self->fault >= 0;
  self->loaded = false;
  count(frames_in);
  count(bytes_in, self->plain_length);
  event(played, self->line.length);
}

// The last beat of a frame from the device has been taken.
__attribute__((noinline)) static void arrive(self_t *self, bool faulty) {
  const uint32_t length = self->incoming.position;
  const uint32_t most =
      vlan_longest(load_span(out_frame, 0, 16), (uint32_t)param(max_frame), (uint32_t)param(vlan_tag));
  const bool wrong = line_is_faulty(&self->incoming, faulty, (uint32_t)param(min_frame), most);
  self->taken.error = wrong;
  count(damaged_out, wrong);
  count(frames_out);
  count(bytes_out, length > 4 ? length - 4 : 0);
  self->incoming.taking = false;
  uint32_t kept = length > most ? most : length;
  if (param(output)[0] && kept > 4)
    packet_write(&self->sink, load_span(out_frame, 0, kept - 4), kept - 4,
                 exact_time_nanoseconds(self->incoming.due, ticks_per_second()));
  self->incoming.due = exact_time_add(self->incoming.due, (uint64_t)param(gap), self->byte_time);
  event(arrived, length);
  sim_progress();
}

// A beat from the device has been taken.
static void take(self_t *self, const wire_beat_64 *beat) {
  if (!self->incoming.taking) event(arriving);
  const uint32_t at =
      line_take(&self->incoming, beat, now(), clock_period(), self->byte_time, (uint64_t)param(preamble));
  if ((uint64_t)at + beat->count <= MOST_TAGGED + 8) memcpy(store_span(out_frame, at, 8), &beat->bytes, 8);
  self->taken = *beat;
  self->taken_cycle = cycle() + 1;
  if (beat->end) arrive(self, beat->error);
  self->incoming.opens_at = exact_time_instant(self->incoming.due);
}

phase_end() {
  if (transferred(from_device)) take(self, &data(from_device));
  if (__builtin_expect(!due(self->line.wake), 1)) return;
  if (__builtin_expect(self->line.plain_at != never(), 1)) {
    self->line.position += 8;
    line_await_beat(&self->line, self->byte_time, clock_period());
    if (__builtin_expect(self->line.plain_at != never() || now() < self->line.wake, 1)) return;
  }
  bool ready = width(ready) == 0 || (some(ready) && data(ready));
  if (!self->line.playing) {
    if (!self->loaded) {
      if (!self->linked && ready) {
        self->linked = true;
        self->linked_at = now();
        self->earliest = exact_time_at(now());
      }
      bool next_index = self->awaits_index && width(next) && transferred(next);
      if (self->linked && !self->exhausted && (self->traffic != traffic_mode_correlated || next_index))
        load_frame(self, next_index ? data(next) : 0);
      update_outputs(self);
      if (!self->loaded || now() < self->line.wake) return;
    }
    if (self->traffic == traffic_mode_fast || self->traffic == traffic_mode_correlated) {
      uint64_t other = width(other_count) && some(other_count) ? data(other_count) : 0;
      self->unready = !ready && param(wait_for_ready);
      if (self->unready || other < self->other_needed) return;
    }
    begin(self);
    update_outputs(self);
    if (self->line.plain_at != never() || now() < self->line.wake) return;
  }
  play_last(self);
  update_outputs(self);
}

next_event() {
  // What is sent in one cycle is gone in the next.
  const uint64_t before = cycle() - 1;
  const bool takes = self->taken_cycle == cycle() || self->taken_cycle == before;
  const bool ends = self->line.beat_cycle == cycle() || self->line.beat_cycle == before;
  if (takes || ends || self->changed_cycle >= cycle()) return cycle();
  if (line_offered_plain(&self->line, self->byte_time, now(), clock_period())) return cycle();
  uint64_t first = never();
  if (self->loaded || self->line.playing)
    first = line_cycle_at(self->line.wake, cycle(), now(), clock_period());
  else if (self->linked && !self->exhausted)
    first = cycle();
  const uint64_t opens = line_cycle_at(self->incoming.opens_at, cycle(), now(), clock_period());
  return now() < self->incoming.opens_at + clock_period() && opens < first ? opens : first;
}

awaits() {
  if (!self->linked && !self->exhausted) waits_for(ready, 0, "the link is down until the device can take a frame");
  if (self->awaits_index) waits_for(next, 0, "the number of the next frame to play");
  if (!self->loaded || self->line.playing || !due(self->line.wake)) return;
  if (self->unready)
    waits_for(ready, 0, "a frame of %u B is held until the device can take it", (unsigned)self->line.length);
  else if (self->traffic == traffic_mode_fast)
    waits_for(other_count, 0, "the next frame of this end follows frame %llu of the other end",
              (unsigned long long)self->other_needed);
}
