// cable.c: one direction of an Ethernet cable, with byte-accurate time; see cable.lss.
#include <string.h>

#include "generic/fault_plan.h"
#include "wire/cable.h"
#include "wire/ethernet_line.h"
#include "wire/vlan_tag.h"

#define MOST ((uint32_t)(param(max_frame) + param(vlan_tag)))

#define REQUIRE_FAULTS() FAULT_PLAN_REQUIRE(cable_faults, CABLE_FAULTS, "fcs and error")

init() {
  REQUIRE_FAULTS();
  self->byte_time = ethernet_time_of_byte((double)param(rate), ticks_per_second());
  self->delay = exact_time_of((uint64_t)param(latency), UINT64_C(1000000000000000), ticks_per_second());
  self->line.opens_at = 1;
  random_seed(&self->rng);
  if (param(capture)[0]) packet_write_open(&self->file, param(capture));
}

handler(reset, faults) {
  REQUIRE_FAULTS();
}

handler(pace) {
  accept(in, due(self->line.opens_at));
}

handler(offer) {
  if (__builtin_expect(flight_empty(flying), 1)) {
    send_nothing(out);
    return;
  }
  send_if(out, flight_due(flying), flight_item(flying));
}

// Gives the frame whose last beat this is the fault that strikes it.
static void apply_fault(self_t *self, wire_beat_64 *last) {
  switch (
      FAULT_STRIKES(param(faults), cable_faults, CABLE_FAULTS, 0, CABLE_FAULTS, self->begun, random_bits(&self->rng))) {
  case CABLE_FAULT_FCS:
    count(faulty_fcs);
    last->bytes ^= UINT64_C(1) << (last->count > 1 ? 8 * (last->count - 1) : 0);
    break;
  case CABLE_FAULT_ERROR:
    count(faulty_error);
    last->error = true;
    break;
  default: break;
  }
}

// When the beat that was taken arrives.  A short one may have left before the cycle in which it was taken; it is under
// way from there on, so that nothing arrives sooner than `cut` says.
static exact_time arrival_of(const self_t *self) {
  return exact_time_sum(exact_time_later(self->line.due, exact_time_at(now())), self->delay);
}

// The last beat of a frame has been taken; returns when it arrives.
static exact_time end(self_t *self, wire_beat_64 *last) {
  const uint32_t length = self->line.position;
  const uint32_t most = vlan_longest(load_span(frame, 0, 16), (uint32_t)param(max_frame), (uint32_t)param(vlan_tag));
  if (line_is_faulty(&self->line, last->error, (uint32_t)param(min_frame), most)) count(damaged);
  if (self->line.late) last->error = true;
  if (param(faults)[0]) apply_fault(self, last);
  const exact_time arrival = arrival_of(self);
  const uint32_t kept = length > most ? most : length;
  if (param(capture)[0] && kept > 4)
    packet_write(&self->file, load_span(frame, 0, kept - 4), kept - 4,
                 exact_time_nanoseconds(arrival, ticks_per_second()));
  count(frames);
  count(bytes, length > 4 ? length - 4 : 0);
  event(entered, length);
  sim_progress();
  self->line.taking = false;
  self->line.due = exact_time_add(self->line.due, (uint64_t)param(gap), self->byte_time);
  return arrival;
}

phase_end(in) {
  if (!transferred(in)) return;
  wire_beat_64 beat = item(in);
  if (!self->line.taking) {
    event(entering);
    self->begun++;
  }
  const uint32_t at = line_take(&self->line, &beat, now(), clock_period(), self->byte_time, (uint64_t)param(preamble));
  // What came too late for the byte before it leaves from now on.
  if (__builtin_expect(self->line.late, false))
    self->line.due =
        exact_time_later(self->line.due, exact_time_add(exact_time_at(now()), beat.count, self->byte_time));
  if (at <= MOST) memcpy(store_span(frame, at, 8), &beat.bytes, 8);
  const exact_time arrival = beat.end ? end(self, &beat) : arrival_of(self);
  flight_send(flying, exact_time_instant(arrival) - now(), beat);
  self->line.opens_at = exact_time_instant(self->line.due);
}

phase_end(out) {
  self->left = transferred(out);
  if (self->left) flight_drop(flying);
}

// The next beat is acknowledged from this cycle on.
next_event(in) {
  const uint64_t opens = self->line.opens_at;
  return unchanged(now() < opens + clock_period() ? line_cycle_at(opens, cycle(), now(), clock_period()) : never());
}

// A beat that was offered before stays so until it is taken, and another one may follow.
next_event(out) {
  if (self->left) return cycle();
  if (flight_empty(flying) || flight_due(flying, clock_period())) return unchanged(never());
  return unchanged(cycle() + (flight_next(flying) + clock_period() - 1) / clock_period());
}
