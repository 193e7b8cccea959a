// disk_mechanics.c: what a disk's arm, platters and buffer take; see disk_mechanics.lss.
#include <math.h>

#include "clock/device_time.h"
#include "disk/disk_mechanics.h"

#define SECOND UINT64_C(1000000000000000)
#define QUEUE  param(queue)

// ---- Times and places ----
static uint32_t cycles_of(uint64_t femtoseconds) {
  const uint64_t cycles = device_cycles(femtoseconds, SECOND, ticks_per_second(), clock_period());
  return cycles > UINT32_MAX / 4 ? UINT32_MAX / 4 : (uint32_t)cycles;
}

// What the arm takes over so many cylinders, in femtoseconds.
static double arm_time(const self_t *self, uint32_t distance) {
#pragma STDC FP_CONTRACT OFF
  const double single = (double)param(single_seek), average = (double)param(average_seek);
  const double full = (double)param(full_seek), n = param(cylinders), d = distance, third = n / 3 > 2 ? n / 3 : 2;
  const double a = (15 * average - 10 * single - 5 * full) / (3 * sqrt(n));
  const double b = (7 * single - 15 * average + 8 * full) / (3 * n);
  switch (param(seek)) {
  case disk_seek_curve: return a * sqrt(d - 1) + b * (d - 1) + single;
  case disk_seek_lines:
    return d <= third ? single + (average - single) * (d - 1) / (third - 1)
                      : average + (full - average) * (d - third) / (n - 1 - third);
  case disk_seek_constant: return average;
  default: return 0;
  }
}

static uint32_t seek_cycles(const self_t *self, uint32_t from, uint32_t to) {
  if (from == to) return 0;
  const double time = arm_time(self, from < to ? to - from : from - to);
  return time > 0 ? cycles_of((uint64_t)(time + 0.5)) : 0;
}

init() {
  self->revolution = device_cycles_32(60, (uint64_t)param(rpm), ticks_per_second(), clock_period());
  if (self->revolution > UINT32_MAX / 4)
    sim_input_error("rpm = %lld: a revolution takes more than %u cycles", (long long)param(rpm), UINT32_MAX / 4);
  self->switching = cycles_of((uint64_t)param(head_switch));
  self->processing = cycles_of((uint64_t)param(overhead));
  const uint32_t step = param(cylinders) > 1 ? seek_cycles(self, 0, 1) : 0;
  for (int k = 0; k < param_length(zones); k++) {
    const uint64_t sectors = param(zones)[k].sectors;
    self->places += (uint64_t)param(zones)[k].cylinders * (uint64_t)param(heads) * sectors;
    if (sectors > self->revolution) sim_input_error("rpm = %d: a sector passes in less than a cycle", (int)param(rpm));
    if (!param(skew)) continue;
    const uint32_t other = step > self->switching ? step : self->switching;
    self->track_skew[k] = (uint32_t)((self->switching * sectors + self->revolution - 1) / self->revolution);
    self->cylinder_skew[k] = (uint32_t)((other * sectors + self->revolution - 1) / self->revolution);
  }
  if (param(ready_sectors) > param(segment_sectors))
    sim_input_error("ready_sectors must be at most the %d sectors of a segment, not %d", param(segment_sectors),
                    (int)param(ready_sectors));
  self->taking = self->moving = self->burst = self->replier = self->passing = self->ahead_segment = -1;
  for (int k = 0; k < param(segments); k++) self->segment_first[k] = self->segment_end[k] = 0;
}

check_state() {
  const bool passes = self->motion == disk_motion_passes, busy = self->phase != disk_buffer_idle || self->holding;
  const bool writes = self->passing >= 0 && self->task[self->passing].op == disk_op_write;
  if (self->revolution == 0) sim_error("a revolution takes no time");
  if (passes && !writes && self->segment < 0) sim_error("a sector is read to no segment");
  if (busy && self->moving < 0) sim_error("a sector moves, of no request");
  if (self->replying && self->replier < 0) sim_error("a reply waits, of no request");
  for (int k = 0; k < QUEUE; k++) {
    const disk_task *task = &self->task[k];
    if (!task->used || task->failed || task->op == disk_op_flush) continue;
    if (task->first > self->places || task->count > self->places - task->first || task->moved > task->count ||
        task->written > task->moved)
      sim_error("request %d goes beyond the sectors of the disk", k);
  }
}

static disk_place place_of(const self_t *self, uint64_t sector) {
  disk_place place = {0};
  for (int k = 0; k < param_length(zones); k++) {
    const uint32_t per_track = param(zones)[k].sectors, cylinders = param(zones)[k].cylinders;
    const uint64_t per_cylinder = (uint64_t)per_track * (uint64_t)param(heads);
    if (sector < per_cylinder * cylinders) {
      const uint32_t row = (uint32_t)(sector / per_cylinder), within = (uint32_t)(sector % per_cylinder);
      const uint64_t each = (uint64_t)self->track_skew[k] * (uint64_t)(param(heads) - 1) + self->cylinder_skew[k];
      place.head = within / per_track;
      place.sector = within % per_track;
      place.sectors = per_track;
      place.skewed = (uint32_t)((row * each + (uint64_t)place.head * self->track_skew[k]) % per_track);
      place.cylinder += row;
      return place;
    }
    sector -= per_cylinder * cylinders;
    place.cylinder += cylinders;
  }
  return place;
}

// Where of a revolution a sector of a track begins.
static uint32_t angle_of(const self_t *self, const disk_place *place, uint32_t sector) {
  return (uint32_t)((uint64_t)sector * self->revolution / place->sectors);
}

// How a sector is come to from where the arm is.
static disk_approach approach_of(const self_t *self, const disk_place *place) {
  const uint32_t at = (place->sector + place->skewed) % place->sectors;
  const uint32_t angle = angle_of(self, place, at);
  disk_approach next = {.move = seek_cycles(self, self->cylinder, place->cylinder)};
  if (place->head != self->head && next.move < self->switching) next.move = self->switching;
  const uint32_t then = (uint32_t)((cycle_modulo(self->revolution) + next.move) % self->revolution);
  next.wait = angle >= then ? angle - then : angle + self->revolution - then;
  next.length = angle_of(self, place, at + 1) - angle;
  return next;
}

// ---- Requests ----
static bool moves_sectors(const disk_task *task) {
  return task->op != disk_op_flush && !task->failed;
}

// Whether what a request does on the disk or to its bytes is done.
static bool is_complete(const disk_task *task) {
  return !moves_sectors(task) || (task->op == disk_op_write ? task->written : task->moved) == task->count;
}

static bool is_before(const disk_task *one, const disk_task *other) {
  return (int32_t)(one->order - other->order) < 0;
}

// Whether an earlier request for some of the same sectors has to be done first.
static bool is_held(const self_t *self, int k) {
  const disk_task *task = &self->task[k];
  for (int j = 0; j < QUEUE; j++) {
    const disk_task *other = &self->task[j];
    if (!other->used || j == k || !is_before(other, task) || is_complete(other)) continue;
    const bool writes = other->op == disk_op_write || task->op == disk_op_write;
    if (writes && other->first < task->first + task->count && task->first < other->first + other->count) return true;
  }
  return false;
}

// Whether all writes that came before a flush are on the disk.
static bool is_flushed(const self_t *self, int k) {
  for (int j = 0; j < QUEUE; j++) {
    const disk_task *other = &self->task[j];
    if (other->used && other->op == disk_op_write && is_before(other, &self->task[k]) && !is_complete(other))
      return false;
  }
  return true;
}

// ---- The buffer ----
// The segment in which a read can begin, -1: there is none.
static int find_segment(const self_t *self, uint64_t sector) {
  for (int s = 0; s < param(segments); s++) {
    const bool grows = self->ahead_segment == s && self->segment_end[s] > self->segment_first[s];
    if (sector >= self->segment_first[s] && sector < self->segment_end[s] + grows) return s;
  }
  return -1;
}

// The first sector of a segment that somebody will still read; behind its last when there is none.
static uint64_t wanted_from(const self_t *self, int s) {
  uint64_t from = self->segment_end[s];
  for (int k = 0; k < QUEUE; k++) {
    const disk_task *task = &self->task[k];
    const bool reads = task->used && task->segment == s && task->moved < task->count;
    if (reads && task->first + task->moved < from) from = task->first + task->moved;
  }
  return from;
}

static bool is_used(const self_t *self, int s) {
  for (int k = 0; k < QUEUE; k++)
    if (self->task[k].used && self->task[k].segment == s && self->task[k].moved < self->task[k].count) return true;
  return false;
}

// The segment that was longest unused and nobody reads from, -1: there is none.
static int free_segment(const self_t *self) {
  int best = -1;
  for (int s = 0; s < param(segments); s++)
    if (!is_used(self, s) && (best < 0 || (int32_t)(self->segment_use[s] - self->segment_use[best]) < 0)) best = s;
  return best;
}

static uint32_t in_buffer(const self_t *self, const disk_task *task) {
  const uint64_t next = task->first + task->moved, end = self->segment_end[task->segment];
  if (end <= next) return 0;
  return end - next < task->count - task->moved ? (uint32_t)(end - next) : task->count - task->moved;
}

// Reading may go on in this segment, up to its end when it begins with the request.
static void allow_ahead(self_t *self, const disk_task *task) {
  self->segment_use[task->segment] = ++self->uses;
  self->ahead_segment = task->segment;
  self->ahead_end = task->first + (uint64_t)param(segment_sectors);
}

// Looks whether the buffer has what reads want.
static void look(self_t *self) {
  for (int k = 0; k < QUEUE; k++) {
    disk_task *task = &self->task[k];
    if (!task->used || task->op != disk_op_read || task->failed || until(looked_at[k]) || task->segment >= 0 ||
        is_held(self, k))
      continue;
    task->segment = find_segment(self, task->first);
    const bool whole = task->segment >= 0 && in_buffer(self, task) == task->count;
    if (whole) allow_ahead(self, task);
    count(hits, whole && !task->looked);
    task->looked = true;
  }
}

// ---- Arm and heads ----
// Whether a request has to do with the disk itself.
static bool needs_arm(const self_t *self, int k) {
  const disk_task *task = &self->task[k];
  if (!task->used || !moves_sectors(task) || until(looked_at[k])) return false;
  if (task->op == disk_op_read)
    return task->segment >= 0 ? task->first + task->count > self->segment_end[task->segment]
                              : free_segment(self) >= 0 && !is_held(self, k);
  const uint32_t most = (uint32_t)param(segment_sectors), staged = task->count < most ? task->count : most;
  return task->written < task->count && task->moved >= staged && !is_held(self, k);
}

// The next sector of a request that has to pass.
static uint64_t next_sector(const self_t *self, const disk_task *task) {
  if (task->op == disk_op_write) return task->first + task->written;
  return task->segment >= 0 ? self->segment_end[task->segment] : task->first;
}

static uint32_t cost(const self_t *self, const disk_task *task) {
  const disk_place place = place_of(self, next_sector(self, task));
  const uint32_t from = self->cylinder, to = place.cylinder, away = from < to ? to - from : from - to;
  switch (param(order)) {
  case disk_order_nearest: return away;
  case disk_order_elevator:
    return to == from || (to > from) == self->inwards ? away : away + (uint32_t)param(cylinders);
  case disk_order_shortest: {
    const disk_approach next = approach_of(self, &place);
    return next.move + next.wait;
  }
  default: return 0;
  }
}

// The request that the arm serves next, -1: none.
static int pick(const self_t *self) {
  const uint64_t limit = device_cycles((uint64_t)param(age_limit), SECOND, ticks_per_second(), clock_period());
  int best = -1;
  bool best_old = false;
  uint32_t best_cost = 0;
  for (int k = 0; k < QUEUE; k++) {
    if (!needs_arm(self, k)) continue;
    const bool old = passed(came[k], limit);
    const uint32_t its = old ? 0 : cost(self, &self->task[k]);
    const bool earlier = best >= 0 && is_before(&self->task[k], &self->task[best]);
    if (best < 0 || old > best_old || (old == best_old && (its < best_cost || (its == best_cost && earlier)))) {
      best = k;
      best_old = old;
      best_cost = its;
    }
  }
  return best;
}

// The arm goes to a sector.
static void go_to(self_t *self, uint64_t sector, bool writes) {
  const disk_place place = place_of(self, sector);
  const disk_approach next = approach_of(self, &place);
  if (place.cylinder != self->cylinder) {
    count(seeks);
    self->inwards = place.cylinder > self->cylinder;
  }
  self->cylinder = place.cylinder;
  self->head = place.head;
  self->sector = sector;
  self->motion = disk_motion_passes;
  self->move = next.move;
  self->wait = next.wait;
  self->length = next.length;
  set_until(arrived, next.move);
  set_until(passes, next.move + next.wait + next.length);
  event(approach, writes, sector, next.move, next.wait, next.length);
}

// Begins or goes on with a request; it waits where there are no bytes to write, or no room to read.
static void serve(self_t *self, int k) {
  disk_task *task = &self->task[k];
  const bool writes = task->op == disk_op_write;
  if (!writes && task->segment < 0) {
    task->segment = free_segment(self);
    self->segment_first[task->segment] = self->segment_end[task->segment] = task->first;
  }
  if (!writes && self->passing != k) allow_ahead(self, task);
  self->passing = k;
  self->segment = task->segment;
  const bool can =
      writes ? task->moved > task->written
             : self->segment_end[self->segment] - wanted_from(self, self->segment) < (uint64_t)param(segment_sectors);
  self->motion = disk_motion_stalled;
  if (can) go_to(self, next_sector(self, task), writes);
}

static bool can_read_ahead(const self_t *self, uint64_t sectors) {
  if (!param(read_ahead) || self->ahead_segment < 0) return false;
  const uint64_t end = self->segment_end[self->ahead_segment];
  const uint64_t last = self->ahead_end < sectors ? self->ahead_end : sectors;
  return end < last && end - wanted_from(self, self->ahead_segment) < (uint64_t)param(segment_sectors);
}

// Decides what passes next.
static void choose(self_t *self, uint64_t sectors) {
  if (self->passing >= 0) {
    if (self->motion == disk_motion_passes) return;
    if (needs_arm(self, self->passing)) {
      serve(self, self->passing);
      return;
    }
    self->passing = -1;
    self->motion = disk_motion_idle;
  }
  const int next = pick(self);
  const bool reads_ahead = self->motion == disk_motion_passes;
  if (next >= 0) {
    const disk_task *task = &self->task[next];
    if (reads_ahead && task->op == disk_op_read && task->segment == self->segment) {
      self->passing = next;
      allow_ahead(self, task);
    } else if (!reads_ahead || !until(arrived)) {
      serve(self, next);
    }
  } else if (!reads_ahead && can_read_ahead(self, sectors)) {
    self->segment = self->ahead_segment;
    go_to(self, self->segment_end[self->segment], false);
  }
}

// A sector has passed.
static void pass(self_t *self) {
  count(sectors_passed);
  count(sectors_ahead, self->passing < 0);
  count(seek_time, self->move);
  count(rotation_time, self->wait);
  count(transfer_time, self->length);
  self->motion = disk_motion_idle;
  if (self->passing >= 0 && self->task[self->passing].op == disk_op_write) {
    self->task[self->passing].written++;
    return;
  }
  const uint64_t end = ++self->segment_end[self->segment];
  if (end - self->segment_first[self->segment] > (uint64_t)param(segment_sectors)) self->segment_first[self->segment]++;
}

// ---- Replies, and what holds the sectors ----
static void forget(self_t *self, int k) {
  bool any = false;
  self->task[k] = (disk_task){.segment = -1};
  for (int j = 0; j < QUEUE; j++) any |= self->task[j].used;
  if (!any) self->orders = 0;
}

// A request's last reply was taken, or it is on the disk: it may be both.
static void end_if_done(self_t *self, int k) {
  disk_task *task = &self->task[k];
  if (task->used && task->replied && is_complete(task) && self->passing != k && !(self->replying && self->replier == k))
    forget(self, k);
}

static void make_reply(self_t *self, int k, bool last) {
  disk_task *task = &self->task[k];
  self->replying = true;
  self->replier = k;
  self->reply.tag = task->tag;
  self->reply.error = task->failed;
  self->reply.last = task->replied = last;
}

// Whether the one reply of a request that returns no sectors is due.
static bool has_reply(const self_t *self, int k) {
  const disk_task *task = &self->task[k];
  if (!task->used || task->replied || until(looked_at[k])) return false;
  if (task->op == disk_op_read) return task->failed;
  if (task->op == disk_op_flush) return false;
  if (self->taking == k || (self->holding && self->moving == k)) return false;
  return task->failed || (param(write_buffer) ? task->moved : task->written) == task->count;
}

// Whether the next sector of a read can be fetched.
static bool is_ready(const self_t *self, int k) {
  const disk_task *task = &self->task[k];
  if (!task->used || task->op != disk_op_read || task->segment < 0 || task->moved == task->count) return false;
  const uint32_t there = in_buffer(self, task), left = task->count - task->moved;
  const uint32_t wanted = left < (uint32_t)param(ready_sectors) ? left : (uint32_t)param(ready_sectors);
  return there && (self->burst == k || there >= wanted);
}

static bool is_flush(const self_t *self, int k) {
  const disk_task *task = &self->task[k];
  return task->used && task->op == disk_op_flush && !task->replied && !until(looked_at[k]) && is_flushed(self, k);
}

// The oldest request with which this can be done, or the one whose sectors are on their way; -1: none.
static int oldest(const self_t *self, int done) {
  int best = -1;
  for (int k = 0; k < QUEUE; k++) {
    if (done == DISK_REPLY ? !has_reply(self, k) : done == DISK_FLUSH ? !is_flush(self, k) : !is_ready(self, k))
      continue;
    if (k == self->burst) return k;
    if (best < 0 || is_before(&self->task[k], &self->task[best])) best = k;
  }
  return best;
}

static void ask(self_t *self, int k) {
  self->phase = disk_buffer_requests;
  self->moving = k;
}

// What is done with what holds the sectors, and what is replied.
static void move_on(self_t *self) {
  if (self->phase != disk_buffer_idle) return;
  if (self->holding) {
    ask(self, self->moving);
    return;
  }
  if (self->replying) return;
  const int ending = oldest(self, DISK_REPLY), flush = oldest(self, DISK_FLUSH);
  if (ending >= 0) {
    make_reply(self, ending, true);
  } else if (flush >= 0) {
    ask(self, flush);
  } else {
    self->burst = oldest(self, DISK_READ);
    if (self->burst >= 0) ask(self, self->burst);
  }
}

// ---- Signals ----
static bool has_room(const self_t *self) {
  for (int k = 0; k < QUEUE; k++)
    if (!self->task[k].used) return true;
  return false;
}

static bool takes_data(const self_t *self) {
  if (self->taking < 0 || self->holding || self->phase != disk_buffer_idle) return false;
  const disk_task *task = &self->task[self->taking];
  return task->failed ||
         (task->moved - task->written < (uint32_t)param(segment_sectors) && !is_held(self, self->taking));
}

phase_start() {
  disk_request request = {.op = disk_op_read, .count = 1};
  if (self->moving >= 0) {
    const disk_task *task = &self->task[self->moving];
    request.op = task->op;
    request.sector = task->op == disk_op_flush ? 0 : task->first + task->moved;
    request.count = task->op != disk_op_flush;
  }
  accept(in_request, self->taking < 0 && has_room(self));
  accept(in_data, takes_data(self));
  send_if(in_reply, self->replying, self->reply);
  send_if(out_request, self->phase == disk_buffer_requests, request);
  send_if(out_data, self->phase == disk_buffer_gives, self->held);
  accept(out_reply, self->phase == disk_buffer_takes || self->phase == disk_buffer_waits);
}

handler(show) {
  send_if(in_sectors, some(out_sectors), data(out_sectors));
}

// ---- What happens ----
static void take_request(self_t *self, const disk_request *request, uint64_t sectors) {
  int k = 0;
  while (self->task[k].used) k++;
  disk_task *task = &self->task[k];
  *task = (disk_task){.used = true, .op = request->op, .tag = request->tag, .segment = -1, .order = ++self->orders};
  task->first = request->op == disk_op_flush ? 0 : request->sector;
  task->count = request->op == disk_op_flush ? 0 : request->count;
  task->failed = request->op != disk_op_flush &&
                 (!request->count || request->sector >= sectors || request->count > sectors - request->sector);
  set_until(looked_at[k], self->processing);
  set_stamp(came[k], 0);
  if (request->op == disk_op_write && request->count) self->taking = k;
}

static void take_sector(self_t *self, const disk_sector *sector) {
  const int k = self->taking;
  disk_task *task = &self->task[k];
  if (sector->abandon || task->failed) {
    task->failed = true;
    if (sector->abandon || ++task->moved == task->count) self->taking = -1;
    return;
  }
  self->holding = true;
  self->held = *sector;
  self->moving = k;
}

// A sector is where it is held, or a flush is done there.
static void take_outcome(self_t *self, const disk_reply *reply) {
  const int k = self->moving;
  disk_task *task = &self->task[k];
  const bool takes = self->phase == disk_buffer_takes;
  self->phase = disk_buffer_idle;
  if (takes || task->op == disk_op_flush) {
    task->failed = reply->error;
    task->moved += takes;
    if (takes) self->reply.bytes = reply->bytes;
    make_reply(self, k, reply->error || task->moved == task->count);
    return;
  }
  self->holding = false;
  task->failed = reply->error;
  if (++task->moved == task->count) self->taking = -1;
}

static void follow_reply(self_t *self) {
  const int k = self->replier;
  const disk_task *task = &self->task[k];
  self->replying = false;
  if (!self->reply.last) return;
  if (self->burst == k) self->burst = -1;
  const uint64_t cycles = elapsed(came[k]);
  count(errors, self->reply.error);
  count(reads, task->op == disk_op_read && !self->reply.error);
  count(writes, task->op == disk_op_write && !self->reply.error);
  count(flushes, task->op == disk_op_flush);
  count(response, cycles);
  event(done, (uint8_t)task->op, task->first, task->count, cycles);
}

// In how many cycles there is something to decide, if nothing comes from outside.
static uint64_t next_decision(const self_t *self) {
  uint64_t next = never();
  for (int k = 0; k < QUEUE; k++) {
    const uint64_t looked = self->task[k].used ? until(looked_at[k]) : 0;
    if (looked && looked < next) next = looked;
  }
  if (self->motion != disk_motion_passes) return next;
  const uint64_t arrives = self->passing < 0 ? until(arrived) : 0;
  if (arrives && arrives < next) next = arrives;
  return until(passes) < next ? until(passes) : next;
}

static bool follow_signals(self_t *self, bool requested, bool given) {
  if (requested) {
    const disk_op op = self->task[self->moving].op;
    self->phase = op == disk_op_read ? disk_buffer_takes : op == disk_op_write ? disk_buffer_gives : disk_buffer_waits;
  }
  if (given) self->phase = disk_buffer_waits;
  return requested | given;
}

phase_end() {
  const uint64_t sectors = data(out_sectors);
  if (sectors > self->places)
    sim_input_error("%llu sectors do not fit on a disk of %llu", (unsigned long long)sectors,
                    (unsigned long long)self->places);
  const bool any = transferred(in_request) | transferred(in_data) | transferred(in_reply) | transferred(out_reply);
  if (!follow_signals(self, transferred(out_request), transferred(out_data)) && !any && until(decides)) return;
  if (transferred(in_reply)) follow_reply(self);
  if (transferred(out_reply)) take_outcome(self, &data(out_reply));
  if (transferred(in_request)) take_request(self, &data(in_request), sectors);
  if (transferred(in_data)) take_sector(self, &data(in_data));
  if (self->motion == disk_motion_passes && !until(passes)) pass(self);
  look(self);
  choose(self, sectors);
  move_on(self);
  for (int k = 0; k < QUEUE; k++) end_if_done(self, k);
  set_until(decides, next_decision(self));
  set_until(shown_until, 2);
}

next_event() {
  return until(shown_until) ? cycle() : unchanged(after(until(decides)));
}

#undef SECOND
#undef QUEUE
