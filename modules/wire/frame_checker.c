// frame_checker.c: end-to-end comparison of frames, throughput and latency; see frame_checker.lss.
#include <string.h>

#include "generic/latency_histogram.h"
#include "wire/frame_checker.h"
#include "wire/udp_traffic.h"

static uint64_t nanoseconds(uint64_t ticks) {
  return (uint64_t)((unsigned __int128)ticks * 1000000000 / ticks_per_second());
}

// The place of a frame in its ring of expected frames, by its running number.
#define SLOT(number) ((number) & (uint64_t)(param(depth) - 1))

check_state() {
  for (int d = 0; d < 2; d++)
    if (self->entered[d] - self->exited[d] > (uint64_t)param(depth))
      sim_error("more than %d frames %s are in flight", (int)param(depth), checker_direction[d]);
}

// A frame has gone in.
static void entered(self_t *self, int d, bool faulty, uint32_t fcs_bytes) {
  if (faulty) {
    count(faulty);
    self->bad++;
    return;
  }
  if (!param(check)) {
    self->entered[d]++;
    self->exited[d]++;
    return;
  }
  uint64_t slot = SLOT(self->entered[d]);
  if (self->entering[d] > (uint32_t)param(max_frame))
    sim_error("a frame %s is longer than %d bytes", checker_direction[d], (int)param(max_frame));
  uint32_t length = self->entering[d] - fcs_bytes;
  if (length < (uint32_t)param(pad_to)) {
    const uint32_t pad = (uint32_t)param(pad_to) - length;
    memset(store_span(expected[d][slot], length, pad), 0, pad);
    length = (uint32_t)param(pad_to);
  }
  store(expected_length[d], slot, length);
  self->entered[d]++;
}

// `count` bytes of a frame go in, `room` of them are at `bytes`.
__attribute__((always_inline)) static inline void enter(self_t *self, int d, const void *bytes, uint32_t count,
                                                        uint32_t room, bool start) {
  uint64_t slot = SLOT(self->entered[d]);
  if (start) {
    if (self->entered[d] - self->exited[d] == (uint64_t)param(depth))
      sim_error("more than %d frames %s are in flight", (int)param(depth), checker_direction[d]);
    self->entering[d] = 0;
    store(expected_since[d], slot, now());
  }
  uint32_t at = self->entering[d];
  self->entering[d] = at + count;
  // All of a beat is copied where it fits: what is too much counts for nothing.
  if (__builtin_expect((uint64_t)at + room <= (uint64_t)param(max_frame), true))
    memcpy(store_span(expected[d][slot], at, room), bytes, room);
  else if ((uint64_t)at + count <= (uint64_t)param(max_frame))
    memcpy(store_span(expected[d][slot], at, count), bytes, count);
}

// `count` bytes of a frame come out.
__attribute__((always_inline)) static inline void leave(self_t *self, int d, const void *bytes, uint32_t count,
                                                        uint32_t room, bool start) {
  uint32_t at = start ? 0 : self->leaving_length[d];
  self->leaving_length[d] = at + count;
  if (__builtin_expect((uint64_t)at + room <= (uint64_t)param(max_frame), true))
    memcpy(store_span(leaving[d], at, room), bytes, room);
  else if ((uint64_t)at + count <= (uint64_t)param(max_frame))
    memcpy(store_span(leaving[d], at, count), bytes, count);
  else
    sim_error("a frame longer than %d bytes came out to the %s", (int)param(max_frame),
              d == CHECKER_TO_WIRE ? "wire" : "host");
}

static inline bool is_expected(const self_t *self, int d, uint64_t slot, const uint8_t *frame, uint32_t length) {
  return load(expected_length[d], slot) == length &&
         memcmp(load_span(expected[d][slot], 0, length), frame, length) == 0;
}

static void count_delivered(self_t *self, int d, uint32_t length) {
  self->delivered[d]++;
  if (d == CHECKER_TO_WIRE)
    count(sent);
  else
    count(received);
  event(delivered, d == CHECKER_TO_WIRE, length);
  sim_progress();
  self->last_event = now();
}

// A frame has come out, which is not compared.
static void only_count(self_t *self, int d, uint32_t length) {
  count_delivered(self, d, length);
  if (param(frames) > 0 && self->delivered[0] + self->delivered[1] >= (uint64_t)param(frames))
    sim_exit(0, "%lld frames came out, and were not compared", (long long)param(frames));
}

// A frame has come out: it must be the oldest that went in, or one behind those that were lost.
__attribute__((noinline)) static void came_out(self_t *self, int d, bool faulty) {
  uint64_t number = self->delivered[d] + 1;
  uint32_t length = self->leaving_length[d];
  const uint8_t *frame = load_span(leaving[d], 0, length);
  if (faulty) sim_error("frame %llu %s came out faulty", (unsigned long long)number, checker_direction[d]);
  if (!param(check)) {
    only_count(self, d, length);
    return;
  }
  // The oldest frame that is equal; those before it are lost, which only the way to the host may do.
  uint64_t found = self->exited[d];
  for (; found < self->entered[d]; found++) {
    uint64_t slot = SLOT(found);
    if (is_expected(self, d, slot, frame, length)) break;
  }
  if (found == self->entered[d] || (d == CHECKER_TO_WIRE && found != self->exited[d])) {
    // Say what happened: an earlier frame again, a later one too early, or bytes that never went in.
    for (uint64_t back = 0; back < self->exited[d] && back < (uint64_t)param(depth) / 2; back++) {
      uint64_t slot = SLOT(self->exited[d] - 1 - back);
      if (is_expected(self, d, slot, frame, length))
        sim_error("frame %llu %s is the %llu-th that went in once more, or too late", (unsigned long long)number,
                  checker_direction[d], (unsigned long long)(self->exited[d] - back));
    }
    if (found < self->entered[d])
      sim_error("frame %llu %s is out of order: it went in as number %llu", (unsigned long long)number,
                checker_direction[d], (unsigned long long)found + 1);
    if (self->exited[d] == self->entered[d])
      sim_error("frame %llu %s never went in (if the firmware makes, changes, or consumes frames, set `check` of this "
                "checker to false)",
                (unsigned long long)number, checker_direction[d]);
    uint64_t slot = SLOT(self->exited[d]);
    const uint32_t wanted = load(expected_length[d], slot), shorter = length < wanted ? length : wanted;
    const uint8_t *bytes = load_span(expected[d][slot], 0, wanted);
    uint32_t at = 0;
    while (at < shorter && bytes[at] == frame[at]) at++;
    sim_difference(bytes, wanted, frame, length);
    if (at == shorter)
      sim_error("frame %llu %s has %u bytes instead of %u", (unsigned long long)number, checker_direction[d], length,
                wanted);
    sim_error("frame %llu %s is damaged: byte %u of %u is 0x%02x instead of 0x%02x", (unsigned long long)number,
              checker_direction[d], at, length, frame[at], bytes[at]);
  }
  self->lost += found - self->exited[d];
  count(missing, found - self->exited[d]);
  const uint64_t since = load(expected_since[d], SLOT(found));
  self->exited[d] = found + 1;
  count_delivered(self, d, length);
  if (self->measuring) {
    uint64_t latency = nanoseconds(now() - since);
    count(histogram[d][latency_bucket(latency)]);
    if (self->measured[d]++ == 0 || latency < self->minimum[d]) self->minimum[d] = latency;
    if (d == CHECKER_TO_WIRE) {
      count(window_sent);
      count(window_sent_payload, udp_payload(frame, length));
    } else {
      count(window_received);
      count(window_received_payload, udp_payload(frame, length));
    }
    report(window, nanoseconds(now() - self->window_start));
  } else if (self->delivered[0] + self->delivered[1] >= (uint64_t)param(warmup)) {
    self->measuring = true;
    self->window_start = now();
  }
  if (param(frames) > 0 && self->delivered[0] + self->delivered[1] >= (uint64_t)param(frames))
    sim_exit(0, "%lld frames were delivered", (long long)param(frames));
}

// Ends the run when all is over: both ends are done, or were.
static void check_end(self_t *self, bool all, uint32_t counted) {
  if (all && !self->ending) self->last_event = now();
  self->ending = all;
  if (!all) return;
  if (!param(check)) sim_progress(); // the end is a matter of `timeout`, not of the watchdog
  uint64_t inside = self->entered[CHECKER_TO_HOST] - self->exited[CHECKER_TO_HOST];
  bool all_delivered = self->entered[CHECKER_TO_WIRE] == self->exited[CHECKER_TO_WIRE] &&
                       self->lost + self->bad + inside == counted + self->ignored_now;
  bool timed_out =
      now() - self->last_event > (uint64_t)((unsigned __int128)param(timeout) * ticks_per_second() / 1000000000000000u);
  if ((all_delivered && param(check)) || timed_out) {
    const unsigned long long to_wire = self->delivered[CHECKER_TO_WIRE], to_host = self->delivered[CHECKER_TO_HOST];
    if (!param(check) && to_wire + to_host)
      sim_exit(0, "no more frames come out: %llu to the wire and %llu to the host were not compared", to_wire, to_host);
    if (!self->entered[CHECKER_TO_WIRE] && !self->entered[CHECKER_TO_HOST] && !self->bad)
      sim_input_error("neither end had a frame to send: nothing was checked (pass packet files, or the payload of "
                      "generated frames)");
    if (self->entered[CHECKER_TO_WIRE] != self->exited[CHECKER_TO_WIRE])
      sim_error("%llu frames from host to wire were lost, the first of them frame %llu; %llu from wire to host did not "
                "arrive either",
                (unsigned long long)(self->entered[CHECKER_TO_WIRE] - self->exited[CHECKER_TO_WIRE]),
                (unsigned long long)self->exited[CHECKER_TO_WIRE] + 1, (unsigned long long)inside);
    self->lost += inside;
    count(missing, inside);
    self->exited[CHECKER_TO_HOST] = self->entered[CHECKER_TO_HOST];
    if (self->lost + self->bad != counted + self->ignored_now)
      sim_error("%llu frames from wire to host are missing and %llu were faulty, and the device counted %u drops and "
                "ignored %u",
                (unsigned long long)self->lost, (unsigned long long)self->bad, counted, self->ignored_now);
    if (self->ignored_now)
      sim_exit(
          0,
          "all frames were delivered (%llu to the wire, %llu to the host) or were counted as dropped (%u), but for "
          "%u that came while the device did not receive",
          to_wire, to_host, counted, self->ignored_now);
    else
      sim_exit(0, "all frames were delivered (%llu to the wire, %llu to the host) or were counted as dropped (%u)",
               to_wire, to_host, counted);
  }
}

phase_end() {
  if (width(host_sent) && some(host_sent)) {
    enter(self, CHECKER_TO_WIRE, &data(host_sent).bytes, data(host_sent).count, sizeof data(host_sent).bytes,
          data(host_sent).start);
    if (data(host_sent).end) entered(self, CHECKER_TO_WIRE, false, 0);
  }
  if (width(wire_received) && some(wire_received)) {
    enter(self, CHECKER_TO_HOST, &data(wire_received).bytes, data(wire_received).count,
          sizeof data(wire_received).bytes, data(wire_received).start);
    if (data(wire_received).end) entered(self, CHECKER_TO_HOST, data(wire_received).error, 4);
  }
  if (width(wire_sent) && some(wire_sent)) {
    leave(self, CHECKER_TO_WIRE, &data(wire_sent).bytes, data(wire_sent).count, sizeof data(wire_sent).bytes,
          data(wire_sent).start);
    if (data(wire_sent).end) {
      self->leaving_length[CHECKER_TO_WIRE] -=
          self->leaving_length[CHECKER_TO_WIRE] < 4 ? self->leaving_length[CHECKER_TO_WIRE] : 4;
      came_out(self, CHECKER_TO_WIRE, data(wire_sent).error);
    }
  }
  if (width(host_received) && some(host_received)) {
    leave(self, CHECKER_TO_HOST, &data(host_received).bytes, data(host_received).count,
          sizeof data(host_received).bytes, data(host_received).start);
    if (data(host_received).end) came_out(self, CHECKER_TO_HOST, data(host_received).error);
  }
  uint32_t counted = 0;
  for (int i = 0; i < width(drops); i++) counted += some(drops, i) ? data(drops, i) : 0;
  self->drops_now = counted;
  uint32_t total = 0;
  for (int i = 0; i < width(ignored); i++) total += some(ignored, i) ? data(ignored, i) : 0;
  self->ignored_now = total;
  bool all = width(done) != 0;
  for (int i = 0; i < width(done); i++) all &= some(done, i) && data(done, i);
  if (__builtin_expect(all || self->ending, false)) check_end(self, all, counted);
}

statistics() {
  counted(counted_drops) = self->drops_now;
  counted(counted_ignored) = self->ignored_now;
  for (int i = 0; i < 2; i++) {
    if (self->measured[i] == 0) continue;
    uint64_t median = latency_quantile(counted(histogram[i]), self->measured[i], 0.5),
             p99 = latency_quantile(counted(histogram[i]), self->measured[i], 0.99);
    if (i == CHECKER_TO_WIRE) {
      counted(latency_sent_min) = self->minimum[i];
      counted(latency_sent_median) = median;
      counted(latency_sent_p99) = p99;
    } else {
      counted(latency_received_min) = self->minimum[i];
      counted(latency_received_median) = median;
      counted(latency_received_p99) = p99;
    }
  }
}

// Frames still inside are neither lost nor delivered; more losses than drops are an error at any time.
finish() {
  if (width(drops) && self->lost > self->drops_now + self->ignored_now)
    sim_error("%llu frames from wire to host are missing, and the device counted only %u drops and ignored %u",
              (unsigned long long)self->lost, self->drops_now, self->ignored_now);
}

awaits() {
  const uint64_t to_wire = self->entered[0] - self->exited[0], to_host = self->entered[1] - self->exited[1];
  if (to_wire)
    waits_for(wire_sent, 0, "frames from the host that are not on the wire: %llu", (unsigned long long)to_wire);
  if (to_host)
    waits_for(host_received, 0, "frames from the wire that the host does not have: %llu", (unsigned long long)to_host);
}

next_event() {
  return self->ending ? cycle() : never();
}
