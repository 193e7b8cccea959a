// gateway.c: the end of a wire at a real network; see gateway.lss.
#include <string.h>

#include "wire/ethernet_line.h"
#include "wire/ethernet_transmitter.h"
#include "wire/vlan_tag.h"

#define MOST ((uint32_t)(param(max_frame) + param(vlan_tag)))

static uint64_t cycles_of(int64_t femtoseconds) {
  const exact_time time = exact_time_of((uint64_t)femtoseconds, 1000000000000000, ticks_per_second());
  const uint64_t cycles = (exact_time_instant(time) + clock_period() - 1) / clock_period();
  return cycles ? cycles : 1;
}

init() {
  self->byte_time = ethernet_time_of_byte((double)param(rate), ticks_per_second());
  self->shortest = self->interval = cycles_of(param(poll));
  self->longest = cycles_of(param(idle_poll));
  gateway_open(&self->outside);
  if (param(capture)[0]) packet_write_open(&self->captured, param(capture));
  self->line.beat_cycle = self->line.plain_at = self->line.wake = never();
  self->incoming.opens_at = 1;
}

// A restored run may have another end than the one before it.
static bool leads_outside(const self_t *self) {
  return stream_is_open(&self->outside);
}

static void capture_frame(self_t *self, const uint8_t *frame, uint32_t length, exact_time at) {
  if (param(capture)[0]) packet_write(&self->captured, frame, length, exact_time_nanoseconds(at, ticks_per_second()));
}

// Frames move, so that the next one is expected soon.
static void look_soon(self_t *self) {
  self->interval = self->shortest;
  if (self->looking && !self->line.playing && until(look_due) > self->shortest) set_until(look_due, self->shortest);
}

// ---- What comes from the device

static void arrive(self_t *self, bool error) {
  const uint32_t length = self->incoming.position, plain = length > 4 ? length - 4 : 0;
  const uint8_t *bytes = load_span(in_frame, 0, MOST + 8);
  const uint32_t most = vlan_longest(bytes, (uint32_t)param(max_frame), (uint32_t)param(vlan_tag));
  const bool wrong = line_is_faulty(&self->incoming, error, (uint32_t)param(min_frame), most);
  count(frames_received);
  count(bytes_received, plain);
  count(damaged, wrong);
  event(arrived, length);
  sim_progress();
  if (length <= most) capture_frame(self, bytes, plain, self->incoming.due);
  if (!wrong && leads_outside(self)) gateway_send(&self->outside, bytes, plain);
  self->incoming.taking = false;
  self->incoming.due = exact_time_add(self->incoming.due, (uint64_t)param(gap), self->byte_time);
  look_soon(self);
}

static void take(self_t *self, const wire_beat_64 *beat) {
  if (!self->incoming.taking) event(arriving);
  const uint32_t at =
      line_take(&self->incoming, beat, now(), clock_period(), self->byte_time, (uint64_t)param(preamble));
  if ((uint64_t)at + beat->count <= MOST + 8) memcpy(store_span(in_frame, at, 8), &beat->bytes, 8);
  if (beat->end) arrive(self, beat->error);
  self->incoming.opens_at = exact_time_instant(self->incoming.due);
}

// ---- What goes to the device

// The frame of this length in `frame`, padded and with its FCS, begins.
static void begin(self_t *self, uint32_t length) {
  const uint32_t least = (uint32_t)param(min_frame) - 4, padded = length < least ? least : length;
  memset(store_span(frame, length, padded - length), 0, padded - length);
  const uint32_t fcs = ~ethernet_fcs_of(load_span(frame, 0, padded), padded);
  memcpy(store_span(frame, padded, 4), &fcs, 4);
  memset(store_span(frame, padded + 4, 8), 0, 8);
  self->line.length = padded + 4;
  event(playing, padded + 4);
  // It may have waited for the line, which became free within this cycle.
  exact_time start = self->line.line_free;
  if (exact_time_instant(start) + clock_period() <= now()) start = exact_time_at(now());
  line_begin(&self->line, exact_time_add(start, (uint64_t)param(preamble), self->byte_time), self->byte_time,
             clock_period());
}

// Whether a frame came, whose length it is then.
static uint32_t look(self_t *self) {
  uint8_t *bytes = store_span(frame, 0, MOST);
  const int32_t came = gateway_receive(&self->outside, bytes, MOST - 4);
  if (came == 0) {
    set_until(look_due, self->interval);
    self->interval = self->interval < self->longest / 2 ? 2 * self->interval : self->longest;
    return 0;
  }
  const uint32_t length = (uint32_t)came + 4;
  const uint32_t most = vlan_longest(bytes, (uint32_t)param(max_frame), (uint32_t)param(vlan_tag));
  self->interval = self->shortest;
  set_until(look_due, self->shortest);
  if (came > 0 && length <= most) return (uint32_t)came;
  count(refused);
  return 0;
}

// Offers the last beat, which has arrived, and looks again when the line is free.
static void play_last(self_t *self) {
  line_play_last(&self->line, load_span(frame, self->line.position, 8), false, cycle() + 1, (uint64_t)param(gap),
                 self->byte_time);
  self->line.wake = never();
  count(frames_sent);
  count(bytes_sent, self->line.length - 4);
  event(played, self->line.length);
  sim_progress();
  capture_frame(self, load_span(frame, 0, self->line.length - 4), self->line.length - 4, self->line.due);
  const uint64_t free = exact_time_instant(self->line.line_free);
  set_until(look_due, line_cycle_at(free, 0, now(), clock_period()));
}

static void play(self_t *self) {
  if (line_step(&self->line, self->byte_time, now(), clock_period()) && self->line.playing) play_last(self);
}

static bool begins_to_look(const self_t *self) {
  return self->linked && !self->looking && leads_outside(self);
}

check_state() {
  if (!line_is_sound(&self->line))
    sim_error("%u bytes of a frame of %u were played", (unsigned)self->line.position, (unsigned)self->line.length);
}

phase_start() {
  const bool last = is_cycle(self->line.beat_cycle);
  wire_beat_64 beat = self->line.beat;
  if (!last) beat = line_plain_beat(&self->line, load_span(frame, self->line.position, 8));
  send_if(to_device, last || due(self->line.plain_at), beat);
}

handler(pace) {
  accept(from_device, due(self->incoming.opens_at));
}

phase_end() {
  if (transferred(from_device)) take(self, &data(from_device));
  if (!self->linked) self->linked = width(ready) == 0 || (some(ready) && data(ready));
  if (__builtin_expect(begins_to_look(self), false)) {
    self->looking = true;
    set_until(look_due, 0);
  }
  if (self->line.playing) {
    if (due(self->line.wake)) play(self);
  } else if (self->looking && leads_outside(self) && within(look_due, 0)) {
    const uint32_t length = look(self);
    if (length) begin(self, length);
  }
}

next_event() {
  // What is sent in one cycle is gone in the next.
  if (self->line.beat_cycle == cycle() || self->line.beat_cycle + 1 == cycle()) return cycle();
  uint64_t first = line_cycle_at(self->line.wake, cycle(), now(), clock_period());
  const uint64_t opens = line_cycle_at(self->incoming.opens_at, cycle(), now(), clock_period());
  if (now() < self->incoming.opens_at + clock_period() && opens < first) first = opens;
  if (begins_to_look(self)) return cycle();
  if (leads_outside(self) && self->looking && !self->line.playing && after(until(look_due)) < first)
    first = after(until(look_due));
  return first;
}
