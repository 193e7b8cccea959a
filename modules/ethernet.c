// ethernet.c: a link with byte-accurate time and the station at its far end; see ethernet.lss.
#include <string.h>

#include "ethernet.h"
#include "ethernet_fcs.h"
#include "fault_plan.h"
#include "udp_traffic.h"

#define NOW ((uint64_t)now() * 1000)
#define CLOCK ((uint64_t)clock_period() * 1000)

init() {
  double second = (double)ticks_per_second() * 1000.0;
  self->byte_time = (uint64_t)(second * 8.0 / (double)param(rate) + 0.5);
  if (param(offered) <= 0) sim_input_error("the offered rate must be more than 0");
  self->offered_byte_time = (uint64_t)(second * 8.0 / (double)param(offered) + 0.5);
  self->how = traffic_mode(param(mode));
  if (self->how < 0) sim_input_error("mode is fast, rate, timed or correlated, not '%s'", param(mode));
  if (param(payload) != 0 && (param(payload) < 18 || param(payload) > 1472))
    sim_input_error("generated frames have 18 to 1472 bytes of payload, not %lld", (long long)param(payload));
  const char *wrong = NULL;
  if (!fault_plan_valid(param(faults), ethernet_faults, ETHERNET_FAULTS, &wrong))
    sim_input_error("faults: '%s' is not a rule; rules are KIND@N, KIND/N or KIND%%P, kinds fcs, short, fragment, long, jabber and error", wrong);
  if (param(faults)[0] && (param(short_bytes) < 8 || param(short_bytes) >= param(min_frame)))
    sim_input_error("short frames have 8 to %d bytes, not %lld", param(min_frame) - 1, (long long)param(short_bytes));
  if (param(faults)[0] && (param(long_bytes) <= param(max_frame) || param(long_bytes) > (int)sizeof self->frame))
    sim_input_error("long frames have %d to %d bytes, not %lld", param(max_frame) + 1, (int)sizeof self->frame, (long long)param(long_bytes));
  random_seed(&self->rng);
  bool file = param(input)[0] != 0;
  if (file) packet_read_open(&self->source, param(input));
  if (param(output)[0]) packet_write_open(&self->sink, param(output));
  self->exhausted = (!file && param(payload) == 0) || (self->how == TRAFFIC_FAST && param(ratio_in) == 0);
  if (self->how == TRAFFIC_TIMED && !file && param(payload)) sim_input_error("generated frames carry no time stamps: mode timed needs a packet file");
  if (self->how == TRAFFIC_CORRELATED && (!width(next) || (!file && param(payload)))) sim_input_error("mode correlated needs a packet file and, at port `next`, who says which frame is next");
}

phase_start() {
  if (__builtin_expect(self->beat_ready, 0)) {
    send(to_device, self->beat);
    wire_beat_64 seen = self->beat;
    seen.error |= self->spoilt_end;
    for (int i = 0; i < width(offered_beats); i++) send(offered_beats, i, seen);
  } else {
    send_nothing(to_device);
    for (int i = 0; i < width(offered_beats); i++) send_nothing(offered_beats, i);
  }
  for (int i = 0; i < width(taken_beats); i++) {
    if (__builtin_expect(self->taken_ready, 0)) send(taken_beats, i, self->taken);
    else send_nothing(taken_beats, i);
  }
  // Who has nothing more to offer keeps nobody waiting.
  uint32_t turn = self->exhausted && !self->loaded ? UINT32_MAX : (uint32_t)self->begun;
  for (int i = 0; i < width(own_count); i++) send(own_count, i, turn);
  for (int i = 0; i < width(done); i++) send(done, i, self->exhausted && !self->loaded);
  accept(from_device, self->open);
  for (int i = 0; i < width(next); i++) accept(next, i, self->asking);
}

// Gives the loaded frame the length of its fault, and counts it; returns its new length without FCS.
static uint32_t spoil(self_t *self, uint32_t length) {
  switch (self->fault) {
  case ETHERNET_FAULT_FCS: self->spoilt_fcs++; return length;
  case ETHERNET_FAULT_SHORT: self->spoilt_short++; return (uint32_t)param(short_bytes) - 4;
  case ETHERNET_FAULT_FRAGMENT: self->spoilt_fragment++; return (uint32_t)param(short_bytes) - 4;
  case ETHERNET_FAULT_ERROR: self->spoilt_error++; return length;
  case ETHERNET_FAULT_LONG: self->spoilt_long++; break;
  default: self->spoilt_jabber++; break;
  }
  uint32_t extended = (uint32_t)param(long_bytes) - 4;
  for (uint32_t i = length; i < extended; i++) self->frame[i] = (uint8_t)i;
  return extended;
}

phase_end() {
  // ---- Towards the device --------------------------------------------------------------------------------------
  if (!self->linked && (width(ready) == 0 || data(ready))) {
    self->linked = true;
    self->linked_at = self->earliest = NOW;
  }
  bool told = self->asking && width(next) && transferred(next);
  if (self->linked && !self->loaded && !self->exhausted && (self->how != TRAFFIC_CORRELATED || told)) {
    bool more = param(count) == 0 || self->begun < (uint64_t)param(count);
    uint32_t length = 0;
    if (told && data(next) == TRAFFIC_NO_MORE) {
      more = false;
    } else if (told && more) {
      packet_at(&self->source, data(next), self->frame, (uint32_t)(param(max_frame) - 4), &length, &self->stamp);
    } else if (more && param(input)[0]) {
      uint64_t stamp = 0;
      more = packet_next(&self->source, self->frame, (uint32_t)(param(max_frame) - 4), &length, &stamp);
      if (more) {
        if (!self->stamped) self->first_stamp = stamp;
        self->stamped = true;
        if (self->how == TRAFFIC_TIMED && stamp < self->first_stamp + self->stamp)
          sim_input_error("%s: the time stamps run backwards at frame %llu", param(input), (unsigned long long)self->begun + 1);
        self->stamp = stamp - self->first_stamp;
      }
    } else if (more) {
      length = udp_frame(self->frame, 1, self->begun, (uint32_t)param(payload), (uint64_t)param(seed));
    }
    if (more) {
      uint32_t padded = length + 4 < (uint32_t)param(min_frame) ? (uint32_t)param(min_frame) - 4 : length;
      memset(self->frame + length, 0, padded - length);
      self->fault = param(faults)[0] ? FAULT_STRIKES(param(faults), ethernet_faults, ETHERNET_FAULTS, 0, ETHERNET_FAULTS, self->begun + 1, random_bits(&self->rng)) : -1;
      if (__builtin_expect(self->fault >= 0, 0)) padded = spoil(self, padded);
      uint32_t fcs = ETHERNET_FCS_START;
      for (uint32_t i = 0; i < padded; i++) fcs = ethernet_fcs(fcs, self->frame[i], 1);
      fcs = ~fcs;
      if (ethernet_fault_in_fcs(self->fault)) fcs ^= 1;
      for (int i = 0; i < 4; i++) self->frame[padded + (uint32_t)i] = (uint8_t)(fcs >> 8 * i);
      self->plain_length = length;
      self->length = padded + 4;
      self->loaded = true;
    } else {
      self->exhausted = true;
    }
  }
  self->beat_ready = false;
  if (self->loaded && !self->playing) {
    bool begin = NOW + CLOCK > self->line_free;
    uint64_t start = self->line_free > NOW ? self->line_free : NOW;
    if (self->how == TRAFFIC_FAST || self->how == TRAFFIC_CORRELATED) {
      begin = begin && (width(ready) == 0 || data(ready));
      if (self->how == TRAFFIC_FAST && width(other_count) && param(ratio_out) > 0)
        begin = begin && self->begun / (uint64_t)param(ratio_in) <= data(other_count) / (uint64_t)param(ratio_out);
      // The line's own pace is kept when the device was ready all the time.
      if (NOW < self->line_free + CLOCK) start = self->line_free > self->linked_at ? self->line_free : NOW;
    } else {
      uint64_t due = self->how == TRAFFIC_RATE ? self->earliest
                                       : self->linked_at + (uint64_t)((unsigned __int128)self->stamp * ticks_per_second() / 1000000);
      begin = begin && NOW + CLOCK > due;
      start = due > self->line_free ? due : self->line_free;
      if (begin && self->how == TRAFFIC_RATE)
        self->earliest += (uint64_t)(self->length + (uint32_t)param(preamble) + (uint32_t)param(gap)) * self->offered_byte_time;
    }
    if (begin) {
      self->playing = true;
      self->started = start;
      self->position = 0;
      self->begun++;
    }
  }
  if (self->playing) {
    uint32_t count = self->length - self->position < 8 ? self->length - self->position : 8;
    uint64_t due = self->started + ((uint64_t)param(preamble) + self->position + count) * self->byte_time;
    if (NOW + CLOCK >= due) {
      uint64_t bytes = 0;
      memcpy(&bytes, self->frame + self->position, count);
      self->beat = (wire_beat_64){.bytes = bytes, .count = (uint8_t)count, .start = self->position == 0, .end = self->position + count == self->length};
      self->spoilt_end = self->beat.end && self->fault >= 0;
      self->beat.error = self->beat.end && self->fault == ETHERNET_FAULT_ERROR;
      self->beat_ready = true;
      self->position += count;
      if (self->position == self->length) {
        self->line_free = due + (uint64_t)param(gap) * self->byte_time;
        self->playing = self->loaded = false;
        self->frames_in++;
        self->bytes_in += self->plain_length;
        event(played, self->length);
      }
    }
  }

  // ---- From the device ----------------------------------------------------------------------------------------------
  self->taken_ready = false;
  if (self->open && transferred(from_device)) {
    wire_beat_64 beat = data(from_device);
    if (!self->taking) {
      self->out_started = NOW < self->out_due + CLOCK ? self->out_due : NOW;
      self->out_position = 0;
      self->fcs = ETHERNET_FCS_START;
      self->taking = true;
      self->late = !beat.start;
    } else {
      self->late |= beat.start || NOW > self->out_due + 8 * self->byte_time + CLOCK;
    }
    if (self->out_position + beat.count <= (uint32_t)param(max_frame) + 8) memcpy(self->out_frame + self->out_position, &beat.bytes, beat.count);
    else self->late = true;
    self->fcs = ethernet_fcs(self->fcs, beat.bytes, beat.count);
    self->out_position += beat.count;
    self->out_due = self->out_started + ((uint64_t)param(preamble) + self->out_position) * self->byte_time;
    self->taken = beat;
    self->taken_ready = true;
    if (beat.end) {
      uint32_t length = self->out_position;
      bool wrong = self->late || beat.error || self->fcs != ETHERNET_FCS_RESIDUE || length < (uint32_t)param(min_frame) || length > (uint32_t)param(max_frame);
      self->taken.error = wrong;
      self->damaged_out += wrong;
      self->frames_out++;
      self->bytes_out += length > 4 ? length - 4 : 0;
      self->taking = false;
      uint32_t kept = length > (uint32_t)param(max_frame) ? (uint32_t)param(max_frame) : length;
      if (param(output)[0] && kept > 4)
        packet_write(&self->sink, self->out_frame, kept - 4, (uint64_t)((unsigned __int128)self->out_due * 1000000 / ticks_per_second()));
      self->out_due += (uint64_t)param(gap) * self->byte_time;
      event(arrived, length);
      sim_progress();
    }
  }
  self->open = NOW + CLOCK >= self->out_due;
  self->asking = self->how == TRAFFIC_CORRELATED && self->linked && !self->loaded && !self->exhausted;

  uint64_t shown = self->begun << 2 | (uint64_t)self->exhausted << 1 | self->loaded;
  self->settling = shown != self->shown;
  self->shown = shown;
}

next_event() {
  if (self->playing || self->taking || self->taken_ready || self->beat_ready || self->settling || !self->open) return cycle();
  if (self->loaded || (self->linked && !self->exhausted)) return cycle();
  return never();
}

#undef NOW
#undef CLOCK
