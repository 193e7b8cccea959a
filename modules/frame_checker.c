// frame_checker.c: end-to-end comparison of frames, throughput and latency; see frame_checker.lss.
#include <string.h>

#include "frame_checker.h"
#include "latency_histogram.h"
#include "udp_traffic.h"


static uint64_t nanoseconds(uint64_t ticks) { return (uint64_t)((unsigned __int128)ticks * 1000000000 / ticks_per_second()); }

// The place of a frame in its ring of expected frames, by its running number.
#define SLOT(number) ((number) & (uint64_t)(param(depth) - 1))

// A frame, or a part of it, goes in.
#define ENTER(direction, source, byte_count, is_start, is_end, is_spoilt, fcs_bytes)                                                     \
  do {                                                                                                                                   \
    uint64_t slot = SLOT(self->entered[direction]);                                                                                      \
    if (is_start) {                                                                                                                      \
      if (self->entered[direction] - self->left[direction] == (uint64_t)param(depth))                                                    \
        sim_error("more than %d frames %s are under way", (int)param(depth), checker_direction[direction]);                              \
      self->entering[direction] = 0;                                                                                                     \
      self->expected_since[direction][slot] = now();                                                                                     \
    }                                                                                                                                    \
    if (self->entering[direction] + (byte_count) <= (uint32_t)param(max_frame))                                                          \
      memcpy(self->expected[direction][slot] + self->entering[direction], (source), (byte_count));                                       \
    self->entering[direction] += (byte_count);                                                                                           \
    if ((is_end) && (is_spoilt)) {                                                                                                       \
      self->spoilt++;                                                                                                                    \
    } else if (is_end) {                                                                                                                 \
      if (self->entering[direction] > (uint32_t)param(max_frame))                                                                        \
        sim_error("a frame %s is longer than %d bytes", checker_direction[direction], (int)param(max_frame));                            \
      uint32_t length = self->entering[direction] - (fcs_bytes);                                                                         \
      if (length < (uint32_t)param(pad_to)) {                                                                                            \
        memset(self->expected[direction][slot] + length, 0, (uint32_t)param(pad_to) - length);                                           \
        length = (uint32_t)param(pad_to);                                                                                                \
      }                                                                                                                                  \
      self->expected_length[direction][slot] = length;                                                                                   \
      self->entered[direction]++;                                                                                                        \
    }                                                                                                                                    \
  } while (0)

phase_end() {
  int out = -1; // direction in which a frame has come out
  if (width(host_sent) && some(host_sent)) {
    typeof_port(host_sent) beat = data(host_sent);
    ENTER(CHECKER_TO_WIRE, &beat.bytes, beat.count, beat.start, beat.end, false, 0u);
  }
  if (width(wire_received) && some(wire_received)) {
    typeof_port(wire_received) beat = data(wire_received);
    ENTER(CHECKER_TO_HOST, &beat.bytes, beat.count, beat.start, beat.end, beat.error, 4u);
  }
  bool ended[2] = {false, false};
  if (width(wire_sent) && some(wire_sent)) {
    typeof_port(wire_sent) beat = data(wire_sent);
    if (beat.start) self->leaving_length[CHECKER_TO_WIRE] = 0;
    if (self->leaving_length[CHECKER_TO_WIRE] + beat.count > (uint32_t)param(max_frame)) sim_error("a frame longer than %d bytes came out to the wire", (int)param(max_frame));
    memcpy(self->leaving[CHECKER_TO_WIRE] + self->leaving_length[CHECKER_TO_WIRE], &beat.bytes, beat.count);
    self->leaving_length[CHECKER_TO_WIRE] += beat.count;
    self->leaving_error[CHECKER_TO_WIRE] = beat.error;
    ended[CHECKER_TO_WIRE] = beat.end;
    if (beat.end) self->leaving_length[CHECKER_TO_WIRE] -= self->leaving_length[CHECKER_TO_WIRE] < 4 ? self->leaving_length[CHECKER_TO_WIRE] : 4;
  }
  if (width(host_received) && some(host_received)) {
    typeof_port(host_received) beat = data(host_received);
    if (beat.start) self->leaving_length[CHECKER_TO_HOST] = 0;
    if (self->leaving_length[CHECKER_TO_HOST] + beat.count > (uint32_t)param(max_frame)) sim_error("a frame longer than %d bytes came out to the host", (int)param(max_frame));
    memcpy(self->leaving[CHECKER_TO_HOST] + self->leaving_length[CHECKER_TO_HOST], &beat.bytes, beat.count);
    self->leaving_length[CHECKER_TO_HOST] += beat.count;
    self->leaving_error[CHECKER_TO_HOST] = beat.error;
    ended[CHECKER_TO_HOST] = beat.end;
  }
  for (int d = 0; d < 2; d++) {
    if (!ended[d]) continue;
    out = d;
    uint64_t number = self->passed[d] + 1;
    uint32_t length = self->leaving_length[d];
    const uint8_t *frame = self->leaving[d];
    if (self->leaving_error[d]) sim_error("frame %llu %s came out spoilt", (unsigned long long)number, checker_direction[d]);
    // The oldest frame that is equal; those before it are lost, which only the way to the host may do.
    uint64_t found = self->left[d];
    for (; found < self->entered[d]; found++) {
      uint64_t slot = SLOT(found);
      if (self->expected_length[d][slot] == length && memcmp(self->expected[d][slot], frame, length) == 0) break;
    }
    if (found == self->entered[d] || (d == CHECKER_TO_WIRE && found != self->left[d])) {
      // Say what happened: an earlier frame again, a later one too early, or bytes that never went in.
      for (uint64_t back = 0; back < self->left[d] && back < (uint64_t)param(depth) / 2; back++) {
        uint64_t slot = SLOT(self->left[d] - 1 - back);
        if (self->expected_length[d][slot] == length && memcmp(self->expected[d][slot], frame, length) == 0)
          sim_error("frame %llu %s is the %llu-th that went in once more, or too late", (unsigned long long)number, checker_direction[d],
                    (unsigned long long)(self->left[d] - back));
      }
      if (found < self->entered[d])
        sim_error("frame %llu %s is out of order: it went in as number %llu", (unsigned long long)number, checker_direction[d], (unsigned long long)found + 1);
      if (self->left[d] == self->entered[d]) sim_error("frame %llu %s never went in", (unsigned long long)number, checker_direction[d]);
      uint64_t slot = SLOT(self->left[d]);
      uint32_t at = 0, shorter = length < self->expected_length[d][slot] ? length : self->expected_length[d][slot];
      while (at < shorter && self->expected[d][slot][at] == frame[at]) at++;
      if (at == shorter)
        sim_error("frame %llu %s has %u bytes instead of %u", (unsigned long long)number, checker_direction[d], length, self->expected_length[d][slot]);
      sim_error("frame %llu %s is damaged: byte %u of %u is 0x%02x instead of 0x%02x", (unsigned long long)number, checker_direction[d], at, length, frame[at],
                self->expected[d][slot][at]);
    }
    self->missing += found - self->left[d];
    uint64_t since = self->expected_since[d][SLOT(found)];
    self->left[d] = found + 1;
    self->passed[d]++;
    if (d == CHECKER_TO_WIRE) self->sent++;
    else self->received++;
    event(through, d == CHECKER_TO_WIRE, length);
    sim_progress();
    self->last_event = now();
    if (self->measuring) {
      uint64_t latency = nanoseconds(now() - since);
      self->histogram[d][latency_bucket(latency)]++;
      if (self->measured[d]++ == 0 || latency < self->minimum[d]) self->minimum[d] = latency;
      if (d == CHECKER_TO_WIRE) {
        self->window_sent++;
        self->window_sent_payload += udp_payload(frame, length);
      } else {
        self->window_received++;
        self->window_received_payload += udp_payload(frame, length);
      }
      self->window = nanoseconds(now() - self->window_start);
    } else if (self->passed[0] + self->passed[1] >= (uint64_t)param(warmup)) {
      self->measuring = true;
      self->window_start = now();
    }
  }

  // ---- Is it all over? ---------------------------------------------------------------------------------------------
  if (out >= 0 && param(frames) > 0 && self->passed[0] + self->passed[1] >= (uint64_t)param(frames)) sim_stop("%lld frames came through", (long long)param(frames));
  uint32_t counted = 0;
  for (int i = 0; i < width(drops); i++) counted += data(drops, i);
  self->drops_now = counted;
  if (width(done) == 0) return;
  bool all = true;
  for (int i = 0; i < width(done); i++) all &= some(done, i) && data(done, i);
  if (all && !self->ending) self->last_event = now();
  self->ending = all;
  if (!all) return;
  uint64_t inside = self->entered[CHECKER_TO_HOST] - self->left[CHECKER_TO_HOST];
  bool through = self->entered[CHECKER_TO_WIRE] == self->left[CHECKER_TO_WIRE] && self->missing + self->spoilt + inside == counted;
  bool settled = now() - self->last_event > (uint64_t)((unsigned __int128)param(settle) * ticks_per_second() / 1000000000000000u);
  if (through || settled) {
    if (self->entered[CHECKER_TO_WIRE] != self->left[CHECKER_TO_WIRE])
      sim_error("%llu frames from host to wire were lost", (unsigned long long)(self->entered[CHECKER_TO_WIRE] - self->left[CHECKER_TO_WIRE]));
    self->missing += inside;
    self->left[CHECKER_TO_HOST] = self->entered[CHECKER_TO_HOST];
    if (self->missing + self->spoilt != counted)
      sim_error("%llu frames from wire to host are missing and %llu were spoilt, and the device counted %u drops", (unsigned long long)self->missing,
                (unsigned long long)self->spoilt, counted);
    sim_stop("all frames came through or were counted as dropped");
  }
}

finish() {
  uint32_t counted = self->drops_now;
  for (int i = 0; i < 2; i++) {
    if (self->measured[i] == 0) continue;
    uint64_t median = latency_quantile(self->histogram[i], self->measured[i], 0.5), p99 = latency_quantile(self->histogram[i], self->measured[i], 0.99);
    if (i == CHECKER_TO_WIRE) {
      self->latency_sent_min = self->minimum[i];
      self->latency_sent_median = median;
      self->latency_sent_p99 = p99;
    } else {
      self->latency_received_min = self->minimum[i];
      self->latency_received_median = median;
      self->latency_received_p99 = p99;
    }
  }
  self->counted_drops = counted;
  // Frames still inside are neither lost nor through; more losses than drops are an error at any time.
  if (width(drops) && self->missing > counted)
    sim_error("%llu frames from wire to host are missing, and the device counted only %u drops", (unsigned long long)self->missing, counted);
}

next_event() { return self->ending ? cycle() : never(); }

#undef SLOT
#undef ENTER
