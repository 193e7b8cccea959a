// scsi_bus.c: a parallel SCSI bus; see scsi_bus.lss.
#include "clock/device_time.h"

#define SECOND UINT64_C(1000000000000000)

static uint32_t cycles_of(uint64_t parts, uint64_t per_second) {
  return device_cycles_32(parts, per_second, ticks_per_second(), clock_period());
}

init() {
  self->free_time = cycles_of((uint64_t)param(bus_free), SECOND);
  self->arbitration_time = cycles_of((uint64_t)param(arbitration), SECOND);
  self->selection_time = cycles_of((uint64_t)param(selection), SECOND);
}

static bool goes_in(scsi_phase phase) {
  return phase & 1;
}

static bool is_data(scsi_phase phase) {
  return phase <= scsi_phase_data_in;
}

// What bytes of a phase take, in cycles.
static uint32_t beat_time(const self_t *self, uint32_t bytes, scsi_phase phase, uint8_t period) {
  uint64_t asynchronous;
  if (__builtin_mul_overflow(bytes, (uint64_t)param(byte_time), &asynchronous)) asynchronous = UINT64_MAX;
  if (!is_data(phase) || !period) return cycles_of(asynchronous, SECOND);
  const uint32_t fastest = cycles_of(8 * (uint64_t)bytes, (uint64_t)param(rate));
  const uint32_t agreed = cycles_of(bytes * UINT64_C(4000000) * period, SECOND);
  return agreed > fastest ? agreed : fastest;
}

check_state() {
  if (self->phase == scsi_bus_phase_connected && (self->initiator < 0 || self->target < 0))
    sim_error("there is a connection, of no initiator or no target");
}

static scsi_state state_of(const self_t *self, int i) {
  scsi_state state = {.reset = self->reset};
  state.absent = self->phase == scsi_bus_phase_absent && self->winner == i;
  if (self->phase != scsi_bus_phase_connected || (i != self->initiator && i != self->target)) return state;
  state.connected = true;
  state.attention = self->attention;
  state.pending = self->has;
  state.phase = self->shown;
  state.requested = goes_in(self->shown) ? self->has && !until(there) : self->requests && !self->has;
  state.peer = self->id[i == self->initiator ? self->target : self->initiator];
  return state;
}

phase_start() {
  const bool won = self->phase == scsi_bus_phase_selects && !until(next);
  const int receiver = goes_in(self->shown) ? self->initiator : self->target;
  for (int i = 0; i < width(device_bus); i++) {
    accept(device_request, i, won && self->winner == i);
    send(device_bus, i, state_of(self, i));
    send_if(device_received, i, self->has && receiver == i && !until(there), self->beat);
  }
}

handler(take) {
  scsi_lines target = {0};
  for (int i = 0; i < width(device_lines); i++)
    if (i == self->target) target = data(device_lines, i);
  const bool in = goes_in(self->shown);
  const bool open = self->phase == scsi_bus_phase_connected && !self->has && target.phase == self->shown &&
                    target.busy && (in || target.requests);
  for (int i = 0; i < width(device_sent); i++)
    accept(device_sent, i, open && i == (in ? self->target : self->initiator));
}

// ---- Connections ----
// Counters of cycles that are being counted lack the cycle in which that began.
statistics() {
  const bool in_use = self->phase != scsi_bus_phase_free;
  counted(busy) = counted(in_use) + (in_use ? cycle() : 0);
  counted(waited) = counted(requesting) + (uint64_t)__builtin_popcount(self->waiting) * cycle();
}

static void free_bus(self_t *self) {
  if (self->phase == scsi_bus_phase_connected) event(release);
  if (self->phase != scsi_bus_phase_free) count_cycles(in_use, false);
  if (self->has) event(lost);
  self->phase = scsi_bus_phase_free;
  self->has = self->attention = self->requests = false;
  self->shown = scsi_phase_data_out;
  set_until(next, self->free_time);
}

static void arbitrate(self_t *self) {
  count_cycles(in_use, true);
  self->phase = scsi_bus_phase_arbitrates;
  set_until(next, self->arbitration_time);
}

// The highest address of those that want the bus wins it.
static void find_winner(self_t *self) {
  int best = -1;
  for (int i = 0; i < width(device_lines); i++)
    if ((self->waiting >> i & 1) && (best < 0 || self->id[i] > self->id[best])) best = i;
  self->winner = best;
  self->phase = scsi_bus_phase_selects;
  set_until(next, self->selection_time);
  if (best < 0) free_bus(self);
}

static void connect(self_t *self, scsi_request request, int other) {
  self->young = true;
  if (other < 0) {
    count(absent);
    self->phase = scsi_bus_phase_absent;
    return;
  }
  count(selections, !request.reselects);
  count(reselections, request.reselects);
  self->phase = scsi_bus_phase_connected;
  self->attention = request.attention;
  self->initiator = request.reselects ? other : self->winner;
  self->target = request.reselects ? self->winner : other;
  self->shown = request.reselects ? scsi_phase_message_in : scsi_phase_message_out;
  event(connection, self->id[self->initiator], self->id[self->target], request.reselects);
}

// ---- What happens ----
static void follow_waiting(self_t *self, int i, bool wants, bool won) {
  const bool waited_before = self->waiting >> i & 1;
  if (wants && !waited_before) count_cycles(requesting, true);
  if (waited_before && (!wants || won)) count_cycles(requesting, false);
  self->waiting = (self->waiting & ~(1u << i)) | (uint32_t)(wants && !won) << i;
}

static void follow_target(self_t *self, scsi_lines target, bool attention, bool given) {
  if (!self->young && !target.busy) {
    free_bus(self);
    return;
  }
  self->attention = attention;
  if (!target.busy) return;
  if (target.phase != self->shown) event(phase, (uint8_t)target.phase);
  self->shown = target.phase;
  self->requests = target.requests && !given; // what it wants behind what it was given, it says in the next cycle
}

static void take_beat(self_t *self, scsi_beat beat, scsi_lines target) {
  const uint32_t time = beat_time(self, beat.count, target.phase, target.period);
  self->has = true;
  self->beat = beat;
  set_until(there, time > 2 ? time - 1 : 1);
  count(data_bytes, is_data(target.phase) ? beat.count : 0);
  count(other_bytes, is_data(target.phase) ? 0 : beat.count);
  count(data_time, is_data(target.phase) ? (time > 2 ? time : 2) : 0);
}

static void follow_time(self_t *self, scsi_lines holder) {
  switch (self->phase) {
  case scsi_bus_phase_free:
    if (self->waiting && !until(next) && !self->reset) arbitrate(self);
    break;
  case scsi_bus_phase_arbitrates:
    if (!until(next)) find_winner(self);
    break;
  case scsi_bus_phase_selects: // the winner has withdrawn
    if (!until(next)) free_bus(self);
    break;
  case scsi_bus_phase_absent:
    if (!self->young && !holder.busy) free_bus(self);
    break;
  default: break;
  }
}

// What is shown, as far as it decides what is shown next.
static uint64_t shown_now(const self_t *self) {
  return (uint64_t)self->phase | (uint64_t)self->shown << 8 | (uint64_t)self->attention << 16 |
         (uint64_t)self->requests << 17 | (uint64_t)self->reset << 18 | (uint64_t)self->has << 19 |
         (uint64_t)self->young << 20 | (uint64_t)self->waiting << 32;
}

phase_end() {
  const uint64_t before = shown_now(self);
  scsi_lines target = {0}, initiator = {0}, winner = {0};
  scsi_request request = {0};
  bool reset = false, won = false, given = false;
  int other = -1;
  for (int i = 0; i < width(device_lines); i++) {
    const scsi_lines lines = data(device_lines, i);
    self->id[i] = lines.id;
    reset |= lines.reset;
    if (i == self->target) target = lines;
    if (i == self->initiator) initiator = lines;
    if (i == self->winner) winner = lines;
    if (!transferred(device_request, i)) continue;
    request = data(device_request, i);
    won = true;
  }
  for (int i = 0; i < width(device_lines); i++) {
    const scsi_lines lines = data(device_lines, i);
    follow_waiting(self, i, some(device_request, i), transferred(device_request, i));
    if (won && lines.responds && lines.id == request.destination && i != self->winner) other = i;
    given |= transferred(device_received, i);
    if (transferred(device_received, i)) self->has = false;
    if (transferred(device_sent, i)) take_beat(self, data(device_sent, i), target);
  }
  count(resets, reset && !self->reset);
  self->reset = reset;
  if (reset) {
    free_bus(self);
  } else if (won) {
    connect(self, request, other);
  } else {
    if (self->phase == scsi_bus_phase_connected) follow_target(self, target, initiator.attention, given);
    follow_time(self, winner);
    self->young = false;
  }
  self->offered = self->has && !until(there);
  if (before != shown_now(self) || won) set_until(shown_until, 2);
}

next_event() {
  if (until(shown_until)) return cycle();
  uint64_t soon = self->has && !self->offered ? until(there) : never();
  const bool timed = self->phase == scsi_bus_phase_arbitrates || self->phase == scsi_bus_phase_selects ||
                     (self->phase == scsi_bus_phase_free && self->waiting);
  if (timed && until(next) < soon) soon = until(next);
  return unchanged(after(soon));
  ;
}

#undef SECOND
